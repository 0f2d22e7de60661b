/**
 * Stores the inventory in the cluster that it describes: in ConfigMaps `inventory-<unit>-<n>`, and in `inventory` with the
 * last commit that was applied completely. Every write is a compare-and-swap, so that of two syncs only one continues.
 * Additions are written before removals, so that a crash after any write loses no entry.
 */

import { LABEL_MANAGED_BY, LABEL_UNIT, MANAGED_BY, MANAGER_SYNC, NAMESPACE } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { CONFIG_MAPS } from '../../../kube/objects/core-kinds.ts';
import { textAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { objectKey } from '../../../kube/objects/object-id.ts';
import { runConcurrently } from '../../run-concurrently.ts';
import {
  CHUNK_PREFIX,
  chunksWithAdditions,
  chunksWithRemovals,
  type InventoryChunk,
  mergeChunks,
} from './chunks.ts';
import {
  DamagedInventory,
  type Inventory,
  type InventoryEntry,
  parseEntries,
  serializeEntries,
} from './inventory.ts';

const STATE = 'inventory';

export interface InventoryStore {
  inventory(): Inventory;
  /** Durable when it resolves. Rejects with Conflict when another sync writes here: the inventory must be read again. */
  write(change: InventoryChange): Promise<void>;
  /** The last commit that was applied completely. */
  applied(): AppliedState | undefined;
  writeApplied(state: AppliedState): Promise<void>;
  /** Replaces the ids of the spent acknowledgements. Durable when it resolves. */
  writeSpent(ids: readonly string[]): Promise<void>;
}

export interface InventoryChange {
  readonly add: readonly InventoryEntry[];
  readonly remove: readonly string[];
}

export interface AppliedState {
  readonly commit: string;
  readonly digest: string;
}

export interface InventoryOptions {
  readonly clusterUID: string;
  /**
   * Prefix of unit names. A hub that is also a cluster of its own fleet has two inventories: one for the hub's own objects
   * and one for those of the cluster. They must not see each other's entries, or each would prune the other's objects.
   */
  readonly scope: string;
}

export const CLUSTER_SCOPE = '';

/** Rejects when any part of the inventory is missing, damaged or of another cluster. */
export async function openInventory(client: Client, options: InventoryOptions): Promise<InventoryStore> {
  const { clusterUID, scope } = options;
  const stateName = scope === CLUSTER_SCOPE ? STATE : `${STATE}.${scope.slice(0, -1)}`;
  const chunks = new Map<string, InventoryChunk>();
  const objects = new Map<string, KubeObject>();
  const labelSelector = `${LABEL_MANAGED_BY}=${MANAGED_BY}`;
  for await (const { items } of client.pages(CONFIG_MAPS, { namespace: NAMESPACE, labelSelector })) {
    for (const object of items) {
      const { name } = object.metadata;
      if (name !== stateName && !isChunk(name, scope)) continue;
      rejectForeign(client, object, clusterUID);
      objects.set(name, object);
      if (name !== stateName) chunks.set(name, chunkOf(client, object));
    }
  }

  return {
    inventory: () => ({
      clusterUID,
      entries: mergeChunks([...chunks.values()]),
      spent: spentOf(objects.get(stateName)),
    }),
    applied: () => appliedOf(objects.get(stateName)),
    async write({ add, remove }) {
      await runConcurrently(chunksWithAdditions([...chunks.values()], add), save);
      await runConcurrently(chunksWithRemovals([...chunks.values()], new Set(remove), add), save);
    },
    async writeApplied({ commit, digest }) {
      const before = appliedOf(objects.get(stateName));
      if (before?.commit === commit && before.digest === digest) return;
      await putState({ commit, digest });
    },
    writeSpent: (ids) => putState({ acknowledged: ids.join('\n') }),
  };

  async function save(chunk: InventoryChunk): Promise<void> {
    const before = objects.get(chunk.name);
    if (chunk.entries.size === 0 && before) {
      await deleteChunk(before);
      chunks.delete(chunk.name);
      return;
    }
    const data = { clusterUID, entries: serializeEntries([...chunk.entries.values()]) };
    await put(chunk.name, { [LABEL_UNIT]: chunk.unit }, data);
    chunks.set(chunk.name, chunk);
  }

  async function deleteChunk({ metadata: { name, uid = '', resourceVersion } }: KubeObject): Promise<void> {
    const preconditions = { uid, ...(resourceVersion ? { resourceVersion } : {}) };
    await client.delete(CONFIG_MAPS, { name, namespace: NAMESPACE }, preconditions);
    objects.delete(name);
  }

  /** The other fields of the state stay. */
  async function putState(changed: Record<string, string>): Promise<void> {
    await put(stateName, {}, { ...dataOf(objects.get(stateName)), clusterUID, ...changed });
  }

  async function put(
    name: string,
    unit: Record<string, string>,
    data: Record<string, string>,
  ): Promise<void> {
    const resourceVersion = objects.get(name)?.metadata.resourceVersion;
    const labels = { [LABEL_MANAGED_BY]: MANAGED_BY, ...unit };
    const metadata = { name, namespace: NAMESPACE, labels, ...(resourceVersion ? { resourceVersion } : {}) };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
    const write = resourceVersion ? client.replace.bind(client) : client.create.bind(client);
    // Only the metadata of the answer is kept: the next write needs the new resourceVersion.
    const { metadata: written } = await write(CONFIG_MAPS, object, { fieldManager: MANAGER_SYNC });
    objects.set(name, {
      ...object,
      metadata: { ...metadata, ...written },
      data: name === stateName ? data : {},
    });
  }
}

/** Unit names contain no dot, so there is none after the scope either. */
function isChunk(name: string, scope: string): boolean {
  const start = `${CHUNK_PREFIX}${scope}`;
  return name.startsWith(start) && !name.slice(start.length).includes('.');
}

function rejectForeign({ server }: Client, object: KubeObject, clusterUID: string): void {
  const found = textAt(object, 'data', 'clusterUID');
  if (found === clusterUID) return;
  if (found === undefined) throw damaged(object, server, 'data.clusterUID is missing');
  throw new DamagedInventory(
    `the inventory ConfigMap ${NAMESPACE}/${object.metadata.name} on ${server} belongs to another cluster: expected ` +
      `${clusterUID}, got ${found}. If it was restored into a new cluster on purpose, delete the ConfigMaps inventory* in ${NAMESPACE}`,
  );
}

function chunkOf({ server }: Client, object: KubeObject): InventoryChunk {
  const { name, labels } = object.metadata;
  const text = textAt(object, 'data', 'entries');
  if (text === undefined) throw damaged(object, server, 'data.entries is missing');
  try {
    const entries = parseEntries(text);
    return {
      name,
      unit: labels?.[LABEL_UNIT] ?? '',
      entries: new Map(entries.map((entry) => [objectKey(entry), entry])),
    };
  } catch (error) {
    throw damaged(object, server, error instanceof Error ? error.message : String(error));
  }
}

/** `commit` and `digest` of the last complete apply, and `acknowledged`: one id a line. */
function dataOf(state: KubeObject | undefined): Record<string, string> {
  const data: Record<string, string> = {};
  for (const field of ['commit', 'digest', 'acknowledged']) {
    const value = textAt(state, 'data', field);
    if (value !== undefined) data[field] = value;
  }
  return data;
}

function spentOf(state: KubeObject | undefined): readonly string[] {
  return (textAt(state, 'data', 'acknowledged') ?? '').split('\n').filter((id) => id !== '');
}

function damaged({ metadata }: KubeObject, server: string, why: string): DamagedInventory {
  return new DamagedInventory(
    `the inventory ConfigMap ${NAMESPACE}/${metadata.name} on ${server} is damaged: ${why}. Nothing is written or deleted ` +
      'in this cluster until it is restored or deleted',
  );
}

function appliedOf(state: KubeObject | undefined): AppliedState | undefined {
  const commit = textAt(state, 'data', 'commit');
  const digest = textAt(state, 'data', 'digest');
  return commit && digest ? { commit, digest } : undefined;
}
