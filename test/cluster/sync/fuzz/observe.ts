/** Reads what is in the cluster and what the hub reports, as an administrator: independently of sync. */
import { CLUSTERS, PIPELINES } from '../../../../src/api/generated/resources.ts';
import type { Cluster, Pipeline } from '../../../../src/api/generated/types.ts';
import { LABEL_HUB, LABEL_MANAGED_BY, MANAGED_BY, NAMESPACE } from '../../../../src/api/names.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { isKubeError } from '../../../../src/kube/client/errors.ts';
import { LEASES, readLeaseRecord } from '../../../../src/kube/leader/record.ts';
import { CONFIG_MAPS } from '../../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../../src/kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../../src/kube/objects/object.ts';
import { objectKey } from '../../../../src/kube/objects/object-id.ts';
import { parseEntries } from '../../../../src/sync/apply/inventory/inventory.ts';
import type { Content } from '../../../sync/fuzz/content.ts';
import { keyOf } from '../../../sync/fuzz/problems.ts';
import type { FuzzFleet } from './fuzz-fleet.ts';
import { type ClusterName, TARGET } from './setup.ts';

/** A cluster and everything that was committed to it. */
export type ObservedFleet = Pick<FuzzFleet, 'servers' | 'committed' | 'hubUID'>;

/** Every object of a kind that was ever committed and that carries the owner labels. Sorted, so that a number finds one. */
export async function ownedObjects({ servers, committed, hubUID }: ObservedFleet): Promise<KubeObject[]> {
  const { client } = servers[TARGET];
  const kinds = await servedKinds(client, committed);
  const lists = kinds.map((kind) => listOwned(client, kind, hubUID));
  return (await Promise.all(lists)).flat().toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** The objects of a commit that exist, with or without labels. */
export async function declaredObjects(
  { servers }: ObservedFleet,
  objects: readonly KubeObject[],
): Promise<KubeObject[]> {
  const { client } = servers[TARGET];
  return (await Promise.all(objects.map((object) => readLive(client, object)))).flatMap((live) => live ?? []);
}

export async function readLive(
  client: Client,
  { apiVersion, kind, metadata: { name, namespace } }: KubeObject,
): Promise<KubeObject | undefined> {
  try {
    const resource = await client.resourceFor(apiVersion, kind);
    return await client.get(resource, namespace ? { name, namespace } : { name });
  } catch (error) {
    // Also of a kind whose definition was deleted since its discovery.
    if (isKubeError(error) && error.status === 404) return undefined;
    if (isKubeError(error, 'NotFound')) return undefined;
    throw error;
  }
}

async function servedKinds(client: Client, committed: readonly Content[]): Promise<Resource[]> {
  const names = new Map(
    committed
      .flatMap((content) => Object.values(content).flat())
      .map(({ apiVersion, kind }) => [JSON.stringify([apiVersion, kind]), { apiVersion, kind }]),
  );
  client.forgetResources();
  const served = await Promise.all(
    [...names.values()].map(({ apiVersion, kind }) =>
      client.resourceFor(apiVersion, kind).catch(ignoreKubeError),
    ),
  );
  return served.flatMap((resource) => resource ?? []);
}

async function listOwned(client: Client, kind: Resource, hubUID: string): Promise<readonly KubeObject[]> {
  const page = await client.list(kind, { labelSelector: `${LABEL_HUB}=${hubUID}` }).catch(ignoreKubeError);
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  return (page?.items ?? []).map((object) => ({ ...object, apiVersion, kind: kind.kind }));
}

/** Odd kinds are not served or cannot be listed: no object of them can exist. */
function ignoreKubeError(error: unknown): undefined {
  if (!isKubeError(error)) throw error;
}

/** Key to unit, of everything that the inventory in the target lists. */
export async function readInventory({ servers }: ObservedFleet): Promise<Map<string, string>> {
  const labelSelector = `${LABEL_MANAGED_BY}=${MANAGED_BY}`;
  const { items } = await servers[TARGET].client.list(CONFIG_MAPS, { namespace: NAMESPACE, labelSelector });
  const entries = items.flatMap((chunk) => parseEntries(textAt(chunk, 'data', 'entries') ?? ''));
  return new Map(entries.map((entry) => [objectKey(entry), entry.unit]));
}

export async function clusterStatus(
  { hub }: FuzzFleet,
  name: ClusterName,
): Promise<NonNullable<Cluster['status']>> {
  return (await hub.client.get<Cluster>(CLUSTERS, { name })).status ?? { conditions: [] };
}

export async function pipelineHead(
  { hub }: FuzzFleet,
  name: ClusterName,
): Promise<Partial<NonNullable<NonNullable<Pipeline['status']>['head']>>> {
  return (await hub.client.get<Pipeline>(PIPELINES, { name })).status?.head ?? {};
}

/** The value that has arrived in the unit that no edit touches. */
export async function readBeat({ servers }: FuzzFleet, cluster: ClusterName): Promise<string | undefined> {
  const { client } = servers[cluster];
  try {
    return textAt(await client.get(CONFIG_MAPS, { name: 'beat', namespace: 'default' }), 'data', 'value');
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    throw error;
  }
}

/** Identity of the process that holds the Lease of the target. */
export async function leaseHolder({ hub }: FuzzFleet): Promise<string | undefined> {
  try {
    const lease = await hub.client.get(LEASES, { name: `cluster-${TARGET}`, namespace: NAMESPACE });
    return readLeaseRecord(lease).holder;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    throw error;
  }
}
