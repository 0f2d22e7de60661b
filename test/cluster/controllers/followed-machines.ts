/** Reads Machines that follow the objects of another system. */
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine } from '../../../src/api/generated/types.ts';
import {
  ANNOTATION_DRAIN_HOOK,
  CONDITION_STEADY,
} from '../../../src/controllers/following/clusterapi/contract.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { isKubeError, unlessMissing } from '../../../src/kube/client/errors.ts';
import { conditionOf } from '../../../src/kube/objects/conditions.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { listAt, textAt } from '../../../src/kube/objects/json.ts';
import { node } from '../../support/builders.ts';
import { THEIR_MACHINES, WORKLOAD_NAMESPACE } from '../../support/cluster-api/workload-cluster.ts';
import { patchNodeStatus } from '../defender/objects.ts';

export async function findMachine(client: Client, name: string): Promise<Machine | undefined> {
  try {
    return await client.get<Machine>(MACHINES, { name });
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    throw error;
  }
}

/** What the machine controller has found of the instance. */
export async function providerIdOf(client: Client, name: string): Promise<string | undefined> {
  return (await findMachine(client, name))?.status?.infra?.providerID;
}

/** The condition shows what the annotation asks for. */
export async function heldOf(client: Client, name: string): Promise<string> {
  const found = await findMachine(client, name);
  const { status, message } = conditionOf(found?.status?.conditions, 'Held') ?? {};
  return `${status} ${message}`;
}

/** `node-ID` on instance `inst://ID`, which is Ready. */
export async function createInstanceNode(client: Client, id: string): Promise<void> {
  const { apiVersion, kind, metadata, status } = node(`node-${id}`);
  await client.create(NODES, { apiVersion, kind, metadata, spec: { providerID: `inst://${id}` } });
  await patchNodeStatus(client, `node-${id}`, status);
}

/** What Cluster API reads of kubenode on its Machine. */
export async function shownOn(client: Client, name: string): Promise<string> {
  const found = await unlessMissing(client.get(THEIR_MACHINES, { namespace: WORKLOAD_NAMESPACE, name }));
  const condition = listAt(found, 'status', 'conditions').find(
    (each) => textAt(each, 'type') === CONDITION_STEADY,
  );
  const shown =
    condition === undefined ? 'nothing' : `${textAt(condition, 'status')} ${textAt(condition, 'reason')}`;
  return `${found?.metadata.annotations?.[ANNOTATION_DRAIN_HOOK] ?? 'no hook'}; ${shown}`;
}
