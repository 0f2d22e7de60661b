/**
 * Follows the machines of another system: each of its objects that has its Node in this cluster gets a Machine of kubenode. One reconcile is about
 * all of them, because two of theirs may contradict each other. Every choice is made in plan.ts.
 */
import { MACHINES } from '../../api/generated/resources.ts';
import type { Machine } from '../../api/generated/types.ts';
import { ANNOTATION_BOOTSTRAP, ANNOTATION_OWNER_HOLD, NAMESPACE } from '../../api/names.ts';
import type { Client } from '../../kube/client/client.ts';
import { type Controller, type ReconcileResult, read } from '../../kube/controller/controller.ts';
import { partChanged } from '../../kube/controller/predicates.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { NODES } from '../../kube/objects/core-kinds.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { certainPlan } from './certain-plan.ts';
import { carryOutFollow } from './execute.ts';
import { observeFollow } from './observe.ts';
import type { FollowOwner, FollowSource, OwnerObject } from './owner.ts';
import { planFollow } from './plan.ts';
import { createFollowReport, type FollowGauge, type FollowReport } from './status.ts';

export interface FollowControllerOptions<Theirs extends OwnerObject> {
  readonly name: string;
  readonly owner: FollowOwner<Theirs>;
  readonly source: FollowSource<Theirs>;
  /** The account of the controller. By default it has the name of the field manager. */
  readonly account?: string;
  /** Returns the parts of a Node that the plan reads: heartbeats of a kubelet trigger no reconcile. */
  readonly nodeParts: (node: KubeObject) => readonly unknown[];
  /** Lists our Machines before one is created or deleted. */
  readonly client: Pick<Client, 'pages'>;
  readonly gauge?: FollowGauge | undefined;
}

const KEY = 'all';
/** While machines join, each has many changes, and a reconcile judges all of them. */
const GATHER_MS = 250;

export function createFollowController<Theirs extends OwnerObject>(
  options: FollowControllerOptions<Theirs>,
): Controller {
  const { name, owner, source, account = owner.manager, nodeParts, gauge } = options;
  const reports = createFollowReport(owner, gauge);
  return {
    name,
    reads: [
      read(MACHINES, { keys: () => [KEY], changed: machineChanged(owner), gatherMs: GATHER_MS }),
      read(NODES, { keys: () => [KEY], changed: partChanged(nodeParts), gatherMs: GATHER_MS }),
    ],
    triggers: (add) => source.open(() => add(KEY)),
    writes: [],
    // With sets and other owners: a Machine of this provider is of this controller, all others are of theirs.
    shares: [
      `Machine.metadata.annotations[${ANNOTATION_OWNER_HOLD}]`,
      `Machine.metadata.annotations[${ANNOTATION_BOOTSTRAP}]`,
      'Machine.metadata.labels',
      'Machine.spec.infra',
      'Machine.spec.zone',
    ],
    creates: ['Machine'],
    deletes: ['Machine'],
    fieldManager: owner.manager,
    serviceAccount: { namespace: NAMESPACE, name: account },
    concurrency: 1,
    reconcile: (_, context) => reconcile(options, reports, context),
  };
}

/** Tells whether a field changed that this controller writes. */
function machineChanged({
  provider,
}: Pick<FollowOwner<OwnerObject>, 'provider'>): ReturnType<typeof partChanged<Machine>> {
  return partChanged<Machine>(({ metadata, spec }) =>
    spec.infra.provider === provider
      ? [
          metadata.labels,
          metadata.annotations?.[ANNOTATION_OWNER_HOLD],
          metadata.annotations?.[ANNOTATION_BOOTSTRAP],
          metadata.deletionTimestamp,
          spec.infra,
          spec.zone,
        ]
      : [],
  );
}

async function reconcile<Theirs extends OwnerObject>(
  { source, client, owner }: FollowControllerOptions<Theirs>,
  reports: FollowReport,
  context: ReconcileContext,
): Promise<ReconcileResult> {
  const observed = observeFollow(source, context);
  if (!observed) return {};
  const plan = planFollow(observed, owner);
  reports.report(observed.theirs, plan, context);
  const { actions } = await certainPlan(plan, { source, client, owner, observed }, context);
  await carryOutFollow(actions, owner, context);
  return {};
}
