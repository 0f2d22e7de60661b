/**
 * Tells people outside of the cluster what jobs hand to them, as kubenode-remedyjob. It is apart from what carries the jobs out, so that no
 * receiver delays a repair. Every choice is made in plan.ts.
 */
import { NODE_REMEDIERS, REMEDY_OPERATION_JOBS } from '../../api/generated/resources.ts';
import type { NodeRemedier, RemedyOperationJob } from '../../api/generated/types.ts';
import { ANNOTATION_NOTIFIED, MANAGER_NOTIFIER, NAMESPACE, PRINCIPAL_REMEDYJOB } from '../../api/names.ts';
import { type Delivered, deliveredOf } from '../../api/status/step-records.ts';
import { type Controller, type ReconcileResult, read } from '../../kube/controller/controller.ts';
import { partChanged } from '../../kube/controller/predicates.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { deliver, record } from './execute.ts';
import type { NoticeMetrics } from './metrics.ts';
import { noticesOf } from './observe.ts';
import { planDeliveries, type ReceiverSelection, withDelivered } from './plan.ts';
import type { Receivers } from './receivers/receivers.ts';

export interface Notifications {
  readonly selections: readonly ReceiverSelection[];
  readonly receivers: Receivers;
}

export interface NotifierOptions extends Notifications {
  readonly metrics: NoticeMetrics;
}

/** So many notices are on their way at once: a receiver that hangs holds each for ten seconds. */
const CONCURRENCY = 4;

export function createNotifierController(options: NotifierOptions): Controller {
  const parts = { ...options, unrecorded: new Map<string, Unrecorded>() };
  return {
    name: 'notifier',
    reads: [
      read<RemedyOperationJob>(REMEDY_OPERATION_JOBS, { changed: partChanged(beginsOf) }),
      read<NodeRemedier>(NODE_REMEDIERS, { keys: () => [] }),
    ],
    writes: [`RemedyOperationJob.metadata.annotations[${ANNOTATION_NOTIFIED}]`],
    fieldManager: MANAGER_NOTIFIER,
    serviceAccount: { namespace: NAMESPACE, name: PRINCIPAL_REMEDYJOB },
    concurrency: CONCURRENCY,
    reconcile: (name, context) => reconcile(name, parts, context),
  };
}

/** Holds what was delivered for a job while the API server does not take the record of it. */
interface Unrecorded {
  /** Another job of the same name has delivered nothing. */
  readonly uid: string | undefined;
  readonly delivered: Delivered;
}

interface ControllerParts extends NotifierOptions {
  /** By name of the job. */
  readonly unrecorded: Map<string, Unrecorded>;
}

async function reconcile(
  name: string,
  { selections, unrecorded, ...parts }: ControllerParts,
  context: ReconcileContext,
): Promise<ReconcileResult> {
  const job = context.view<RemedyOperationJob>(REMEDY_OPERATION_JOBS).get(name);
  if (!job) {
    unrecorded.delete(name);
    return {};
  }
  const remedier = context.view<NodeRemedier>(NODE_REMEDIERS).get(job.spec.cause.remedier);
  const unsaved = unsavedOf(job, unrecorded);
  const delivered = unsaved ?? deliveredOf(job);
  const due = planDeliveries(noticesOf(job, remedier), selections, { delivered, now: context.clock.now() });
  const { arrived, retryAt } = await deliver(job, due, { ...parts, context });
  const after = withDelivered(delivered, arrived, context.clock.now());
  if (unsaved || arrived.length > 0) {
    unrecorded.set(name, { uid: job.metadata.uid, delivered: after });
    await record(job, after, context);
  }
  unrecorded.delete(name);
  return retryAt ? { requeueAt: retryAt } : {};
}

function unsavedOf(
  { metadata: { name, uid } }: RemedyOperationJob,
  unrecorded: ControllerParts['unrecorded'],
): Delivered | undefined {
  const kept = unrecorded.get(name);
  return kept?.uid === uid ? kept?.delivered : undefined;
}

function beginsOf({ status }: RemedyOperationJob): unknown {
  return status?.steps?.map(({ id, startedAt }) => [id, startedAt]);
}
