/**
 * Tells people outside of the cluster what jobs hand to them, as kubenode-remedyjob. It is apart from what carries the jobs out, so that no
 * receiver delays a repair. Every choice is made in plan.ts.
 */
import { MACHINES, NODE_REMEDIERS, REMEDY_OPERATION_JOBS } from '../../api/generated/resources.ts';
import type { Machine, NodeRemedier, RemedyOperationJob } from '../../api/generated/types.ts';
import { ANNOTATION_NOTIFIED, MANAGER_NOTIFIER, NAMESPACE, PRINCIPAL_REMEDYJOB } from '../../api/names.ts';
import { type Delivered, deliveredOf } from '../../api/status/step-records.ts';
import { type Controller, type ReconcileResult, read } from '../../kube/controller/controller.ts';
import { partChanged } from '../../kube/controller/predicates.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { conditionOf } from '../../kube/objects/conditions.ts';
import { deliver, record } from './execute.ts';
import type { NoticeMetrics } from './metrics.ts';
import type { Notice } from './notice.ts';
import { noticesOf, resolutionsOf } from './observe.ts';
import { type Delivery, planDeliveries, type ReceiverSelection, withDelivered } from './plan.ts';
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
  const open = new Map<string, HandedOver>();
  const parts = { ...options, unrecorded: new Map<string, Unrecorded>(), open };
  return {
    name: 'notifier',
    reads: [
      read<RemedyOperationJob>(REMEDY_OPERATION_JOBS, { changed: partChanged(beginsOf) }),
      read<Machine>(MACHINES, {
        keys: ({ metadata }) =>
          [...open].flatMap(([job, { machine }]) => (machine === metadata.name ? [job] : [])),
        changed: partChanged(({ status }) => conditionOf(status?.conditions, 'NeedsPerson')),
      }),
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

interface HandedOver {
  readonly machine: string;
  /** When the Machine was first found to be deleted. */
  readonly deletedAt?: Date;
}

interface ControllerParts extends NotifierOptions {
  /** By name of the job. */
  readonly unrecorded: Map<string, Unrecorded>;
  /** The machines that jobs handed to a person, by name of the job. */
  readonly open: Map<string, HandedOver>;
}

async function reconcile(
  name: string,
  { selections, unrecorded, open, ...parts }: ControllerParts,
  context: ReconcileContext,
): Promise<ReconcileResult> {
  const job = context.view<RemedyOperationJob>(REMEDY_OPERATION_JOBS).get(name);
  if (!job) {
    unrecorded.delete(name);
    open.delete(name);
    return {};
  }
  const remedier = context.view<NodeRemedier>(NODE_REMEDIERS).get(job.spec.cause.remedier);
  const unsaved = unsavedOf(job, unrecorded);
  const delivered = unsaved ?? deliveredOf(job);
  const notices = allNotices(job, { remedier, open }, context);
  const due = planDeliveries(notices, selections, { delivered, now: context.clock.now() });
  const { arrived, retryAt } = await deliver(job, due, { ...parts, context });
  const after = withDelivered(delivered, arrived, context.clock.now());
  if (unsaved || arrived.length > 0) {
    unrecorded.set(name, { uid: job.metadata.uid, delivered: after });
    await record(job, after, context);
  }
  unrecorded.delete(name);
  // A step that was over before its notice arrived is resolved next.
  const next = planDeliveries(notices, selections, { delivered: after, now: context.clock.now() });
  if (next.some((delivery) => !due.some((tried) => isSame(tried, delivery)))) {
    return { requeueAt: context.clock.now() };
  }
  return retryAt ? { requeueAt: retryAt } : {};
}

function isSame(one: Delivery, other: Delivery): boolean {
  return one.receiver === other.receiver && one.notice.id === other.notice.id;
}

function allNotices(
  job: RemedyOperationJob,
  { remedier, open }: Pick<ControllerParts, 'open'> & { readonly remedier: NodeRemedier | undefined },
  context: ReconcileContext,
): readonly Notice[] {
  const opened = noticesOf(job, remedier);
  const { name, uid } = job.spec.machine;
  if (!opened.some(({ step }) => step === 'HandOff')) return opened;
  const machine = context.view<Machine>(MACHINES).get(name);
  const isDeleted = machine?.metadata.uid !== uid;
  const deletedAt = open.get(job.metadata.name)?.deletedAt ?? context.clock.now();
  open.set(job.metadata.name, { machine: name, ...(isDeleted && { deletedAt }) });
  return [...opened, ...resolutionsOf(opened, job, machine, deletedAt)];
}

function unsavedOf(
  { metadata: { name, uid } }: RemedyOperationJob,
  unrecorded: ControllerParts['unrecorded'],
): Delivered | undefined {
  const kept = unrecorded.get(name);
  return kept?.uid === uid ? kept?.delivered : undefined;
}

function beginsOf({ status }: RemedyOperationJob): unknown {
  return [status?.timeline?.settledAt, status?.steps?.map(({ id, startedAt }) => [id, startedAt])];
}
