/**
 * Follows the Machines of Cluster API: each that has its Node in this cluster gets a Machine of kubenode, written as
 * kubenode-clusterapi. One reconcile is about all of them, because two of theirs may contradict each other. Every choice is made in
 * plan.ts.
 */
import { MACHINES } from '../../api/generated/resources.ts';
import type { Machine } from '../../api/generated/types.ts';
import {
  ANNOTATION_OWNER_HOLD,
  MANAGER_CLUSTERAPI,
  NAMESPACE,
  PRINCIPAL_CLUSTERAPI,
} from '../../api/names.ts';
import type { Client } from '../../kube/client/client.ts';
import { type Controller, type ReconcileResult, read } from '../../kube/controller/controller.ts';
import { partChanged } from '../../kube/controller/predicates.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { NODES } from '../../kube/objects/core-kinds.ts';
import { valueAt } from '../../kube/objects/json.ts';
import { isFollowed } from '../../providers/followed.ts';
import { ANNOTATION_NODE_MACHINE, ANNOTATION_NODE_NAMESPACE } from './contract.ts';
import { carryOutFollow } from './execute.ts';
import type { ForeignSource } from './observe/foreign-source.ts';
import { listFollow, observeFollow } from './observe/observe.ts';
import { planFollow } from './plan.ts';
import { createFollowReport, type FollowGauge, type FollowReport } from './status.ts';

export interface ClusterApiControllerOptions {
  readonly source: ForeignSource;
  /** Lists our Machines before one is created or deleted. */
  readonly client: Pick<Client, 'pages'>;
  readonly gauge?: FollowGauge;
}

const KEY = 'all';
/** While machines join, each has many changes, and a reconcile judges all of them. */
const GATHER_MS = 250;

export function createClusterApiController({ gauge, ...options }: ClusterApiControllerOptions): Controller {
  const reports = createFollowReport(gauge);
  return {
    name: 'clusterapi',
    reads: [
      read(MACHINES, { keys: () => [KEY], changed: machineChanged, gatherMs: GATHER_MS }),
      read(NODES, { keys: () => [KEY], changed: nodeChanged, gatherMs: GATHER_MS }),
    ],
    triggers: (add) => options.source.open(() => add(KEY)),
    writes: [`Machine.metadata.annotations[${ANNOTATION_OWNER_HOLD}]`],
    // With sets: a Machine of provider clusterapi is of this controller, all others are of theirs.
    shares: ['Machine.metadata.labels', 'Machine.spec.infra', 'Machine.spec.zone'],
    creates: ['Machine'],
    deletes: ['Machine'],
    fieldManager: MANAGER_CLUSTERAPI,
    serviceAccount: { namespace: NAMESPACE, name: PRINCIPAL_CLUSTERAPI },
    concurrency: 1,
    reconcile: (_, context) => reconcile({ ...options, reports }, context),
  };
}

/** Tells whether a field changed that this controller writes. */
const machineChanged = partChanged<Machine>(({ metadata, spec }) =>
  isFollowed({ spec })
    ? [
        metadata.labels,
        metadata.annotations?.[ANNOTATION_OWNER_HOLD],
        metadata.deletionTimestamp,
        spec.infra,
        spec.zone,
      ]
    : [],
);

/** Heartbeats of a kubelet trigger no reconcile. */
const nodeChanged = partChanged((node) => [
  valueAt(node, 'spec', 'providerID'),
  node.metadata.annotations?.[ANNOTATION_NODE_MACHINE],
  node.metadata.annotations?.[ANNOTATION_NODE_NAMESPACE],
]);

interface Reconcile extends Omit<ClusterApiControllerOptions, 'gauge'> {
  readonly reports: FollowReport;
}

async function reconcile(
  { source, client, reports }: Reconcile,
  context: ReconcileContext,
): Promise<ReconcileResult> {
  const observed = observeFollow(source, context);
  if (!observed) return {};
  const plan = planFollow(observed);
  reports.report(observed.theirs, plan, context);
  const isCertain = plan.actions.every(({ type }) => type === 'Update');
  const { actions } = isCertain ? plan : planFollow(await listFollow(source, client, context));
  await carryOutFollow(actions, context);
  return {};
}
