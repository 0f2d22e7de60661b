/**
 * The inventory in the cluster that it describes: ConfigMaps `inventory-<unit>-<n>`, and `inventory` with the last
 * commit that was applied as a whole. Every write is a compare-and-swap, so that of two syncs only one goes on.
 * A put comes before a removal: whatever write is the last one before a crash, no entry is lost.
 */

import { LABEL_MANAGED_BY, LABEL_UNIT, MANAGED_BY, MANAGER_SYNC, NAMESPACE } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { KubeError } from '../../../kube/client/errors.ts';
import { CONFIG_MAPS } from '../../../kube/objects/core-kinds.ts';
import { textAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { objectKey } from '../../../kube/objects/object-id.ts';
import {
  CHUNK_PREFIX,
  chunksWithAdditions,
  chunksWithRemovals,
  type InventoryChunk,
  merged,
} from './chunks.ts';
import { type Inventory, type InventoryEntry, parseEntries, serializeEntries } from './inventory.ts';

const STATE = 'inventory';

export interface InventoryStore {
  inventory(): Inventory;
  /** Durable when it resolves. A Conflict means that another sync writes here: read all anew. */
  write(change: InventoryChange): Promise<void>;
  /** The last commit that was applied as a whole. */
  applied(): AppliedState | undefined;
  writeApplied(state: AppliedState): Promise<void>;
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
   * Put before the names of units. Into the hub go its own objects and, where it is a cluster of its own fleet, those of
   * that cluster too: two inventories that must not know each other, or each would prune what the other has applied.
   */
  readonly scope: string;
}

export const CLUSTER_SCOPE = '';

/** Of the objects that a Pipeline puts into the hub. */
export function hubScope(pipeline: string): string {
  return `${pipeline}.`;
}

/** Rejects on any doubt: a part of an inventory, or one of another cluster, is no inventory. */
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
      refuseForeign(client, object, clusterUID);
      objects.set(name, object);
      if (name !== stateName) chunks.set(name, chunkOf(client, object));
    }
  }

  return {
    inventory: () => ({ clusterUID, entries: merged([...chunks.values()]) }),
    applied: () => appliedOf(objects.get(stateName)),
    async write({ add, remove }) {
      for (const chunk of chunksWithAdditions([...chunks.values()], add)) await save(chunk);
      for (const chunk of chunksWithRemovals([...chunks.values()], new Set(remove), add)) await save(chunk);
    },
    async writeApplied({ commit, digest }) {
      const before = appliedOf(objects.get(stateName));
      if (before?.commit === commit && before.digest === digest) return;
      await put(stateName, {}, { clusterUID, commit, digest });
    },
  };

  async function save(chunk: InventoryChunk): Promise<void> {
    const before = objects.get(chunk.name);
    if (chunk.entries.size === 0 && before) {
      await discard(before);
      chunks.delete(chunk.name);
      return;
    }
    const data = { clusterUID, entries: serializeEntries([...chunk.entries.values()]) };
    await put(chunk.name, { [LABEL_UNIT]: chunk.unit }, data);
    chunks.set(chunk.name, chunk);
  }

  async function discard({ metadata: { name, uid = '', resourceVersion } }: KubeObject): Promise<void> {
    const preconditions = { uid, ...(resourceVersion ? { resourceVersion } : {}) };
    await client.delete(CONFIG_MAPS, { name, namespace: NAMESPACE }, preconditions);
    objects.delete(name);
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
    // Without managedFields and data, which we have already: only the version is needed for the next write.
    const { metadata: written } = await write(CONFIG_MAPS, object, { fieldManager: MANAGER_SYNC });
    objects.set(name, {
      ...object,
      metadata: { ...metadata, ...written },
      data: name === stateName ? data : {},
    });
  }
}

/** Names of units hold no dot, so what follows the scope has none either. */
function isChunk(name: string, scope: string): boolean {
  const start = `${CHUNK_PREFIX}${scope}`;
  return name.startsWith(start) && !name.slice(start.length).includes('.');
}

function refuseForeign({ server }: Client, object: KubeObject, clusterUID: string): void {
  const found = textAt(object, 'data', 'clusterUID');
  if (found === clusterUID) return;
  throw new KubeError(
    'BadAnswer',
    `the inventory ${object.metadata.name} on ${server} is that of cluster ${found ?? '(none)'}, and this is cluster ` +
      `${clusterUID}. If it was restored into a new cluster on purpose, delete the ConfigMaps inventory* in ${NAMESPACE}`,
  );
}

function chunkOf({ server }: Client, object: KubeObject): InventoryChunk {
  const { name, labels } = object.metadata;
  try {
    const entries = parseEntries(textAt(object, 'data', 'entries') ?? '');
    return {
      name,
      unit: labels?.[LABEL_UNIT] ?? '',
      entries: new Map(entries.map((entry) => [objectKey(entry), entry])),
    };
  } catch (cause) {
    const message = `the inventory ${name} on ${server} is damaged: nothing is written or deleted there until it is repaired`;
    throw new KubeError('BadAnswer', message, { cause });
  }
}

function appliedOf(state: KubeObject | undefined): AppliedState | undefined {
  const commit = textAt(state, 'data', 'commit');
  const digest = textAt(state, 'data', 'digest');
  return commit && digest ? { commit, digest } : undefined;
}
