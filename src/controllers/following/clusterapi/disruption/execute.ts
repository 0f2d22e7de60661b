/** Shows Cluster API on its Machines what kubenode does there. One machine that fails keeps no other. */
import { MANAGER_CLUSTERAPI_DISRUPTION } from '../../../../api/names.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { isKubeError } from '../../../../kube/client/errors.ts';
import type { ReconcileContext } from '../../../../kube/controller/reconcile-context.ts';
import type { Resource } from '../../../../kube/objects/object.ts';
import { tryAll } from '../../../../kube/process/run-concurrently.ts';
import { wholeSeconds } from '../../../../os/dates.ts';
import {
  ANNOTATION_DRAIN_HOOK,
  CLUSTER_API_GROUP,
  CONDITION_STEADY,
  type ForeignMachine,
  type SteadyCondition,
} from '../contract.ts';
import type { DisruptionWrite } from './plan.ts';

export interface DisruptionParts {
  readonly client: Pick<Client, 'patch' | 'apply'>;
  readonly context: Pick<ReconcileContext, 'signal' | 'clock' | 'log'>;
}

/** Rejects with the first error when all is tried. */
export async function carryOutDisruption(
  writes: readonly DisruptionWrite[],
  parts: DisruptionParts,
): Promise<void> {
  await tryAll(writes, (write) => unlessChanged(carryOut(write, parts)));
}

/** Ignores that it was deleted, has changed, or is another machine of that name: the next change of the watch has it. */
async function unlessChanged(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isKubeError(error, 'NotFound', 'Conflict')) throw error;
  }
}

/** The hook first: it is what keeps the machine. */
async function carryOut({ theirs, hook, condition }: DisruptionWrite, parts: DisruptionParts): Promise<void> {
  const { namespace, name } = theirs;
  if (hook !== undefined) await writeHook(theirs, hook, parts);
  if (condition) await writeCondition(theirs, condition, parts);
  const reason = condition?.reason;
  parts.context.log.info('cluster api machine changed', { namespace, name, hook, condition: reason });
}

/** On the version that was judged: a machine whose deletion has begun meanwhile gets no hook. */
async function writeHook(
  { namespace, name, uid, resourceVersion, servedVersion }: ForeignMachine,
  hook: string | null,
  { client, context: { signal } }: DisruptionParts,
): Promise<void> {
  const body = { metadata: { uid, resourceVersion, annotations: { [ANNOTATION_DRAIN_HOOK]: hook } } };
  const how = { fieldManager: MANAGER_CLUSTERAPI_DISRUPTION, signal };
  await client.patch(theirMachines(servedVersion), { namespace, name }, { type: 'merge', body }, how);
}

async function writeCondition(
  { namespace, name, uid, servedVersion, steady }: ForeignMachine,
  condition: SteadyCondition,
  { client, context: { signal, clock } }: DisruptionParts,
): Promise<void> {
  const resource = theirMachines(servedVersion);
  const isTurned = steady?.status !== condition.status;
  const since = isTurned ? wholeSeconds(clock.now()) : (steady?.since ?? wholeSeconds(clock.now()));
  const { status, reason, message } = condition;
  const object = {
    apiVersion: `${CLUSTER_API_GROUP}/${servedVersion}`,
    kind: resource.kind,
    metadata: { name, namespace, uid },
    status: { conditions: [{ type: CONDITION_STEADY, status, reason, message, lastTransitionTime: since }] },
  };
  const how = { fieldManager: MANAGER_CLUSTERAPI_DISRUPTION, force: true, subresource: 'status', signal };
  await client.apply(resource, object, how);
}

function theirMachines(version: string): Resource {
  return { group: CLUSTER_API_GROUP, version, kind: 'Machine', plural: 'machines', namespaced: true };
}
