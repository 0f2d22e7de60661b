/**
 * Stores the inventory in the cluster that it describes: in ConfigMaps `inventory-<unit>-<n>`, and in `inventory` with the
 * last commit that was applied completely. Every write is a compare-and-swap, so that of two syncs only one continues.
 * Additions are written before removals, so that a crash after any write loses no entry.
 */

import { LABEL_UNIT } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { textAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { objectKey } from '../../../kube/objects/object-id.ts';
import { runConcurrently } from '../../../kube/process/run-concurrently.ts';
import { messageOf } from '../../../os/errors.ts';
import {
  chunksWithAdditions,
  chunksWithRemovals,
  type InventoryChunk,
  mergeChunks,
  unitOfChunk,
} from './chunks.ts';
import {
  damagedInventory,
  type InventoryOptions,
  linesOf,
  openInventoryMaps,
  type StateFields,
} from './config-maps.ts';
import { type Inventory, type InventoryEntry, parseEntries, serializeEntries } from './inventory.ts';

export interface InventoryStore {
  inventory(): Inventory;
  /**
   * Durable when it resolves. From then on, no earlier holder of the Lease can write here. Call it before anything is written or
   * deleted in the cluster; each write of the inventory includes it. Rejects with EpochSuperseded when a later holder was here.
   */
  claim(): Promise<void>;
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

/** Rejects when any part of the inventory is missing, damaged or of another cluster. */
export async function openInventory(client: Client, options: InventoryOptions): Promise<InventoryStore> {
  const maps = await openInventoryMaps(client, options);
  const chunks = new Map(maps.chunks.map((object) => [object.metadata.name, chunkOf(client, object)]));

  return {
    inventory: () => ({
      clusterUID: options.clusterUID,
      entries: mergeChunks([...chunks.values()]),
      spent: linesOf(maps.state().acknowledged),
    }),
    applied: () => appliedOf(maps.state()),
    claim,
    async write({ add, remove }) {
      if (add.length + remove.length === 0) return;
      await claim();
      const additions = chunksWithAdditions([...chunks.values()], add);
      await maps.reserve(additions.map(({ name }) => name));
      await runConcurrently(additions, save);
      const removals = chunksWithRemovals([...chunks.values()], new Set(remove), add);
      await maps.release(removals.filter(({ entries }) => entries.size === 0).map(({ name }) => name));
      await runConcurrently(removals, save);
    },
    async writeApplied({ commit, digest }) {
      const before = appliedOf(maps.state());
      if (before?.commit === commit && before.digest === digest) return;
      await claim();
      await maps.writeState({ commit, digest });
    },
    async writeSpent(ids) {
      await claim();
      await maps.writeState({ acknowledged: ids.join('\n') });
    },
  };

  async function claim(): Promise<void> {
    await options.beforeWrite?.();
    const created = await maps.claim((name) => textOf(chunks.get(name)));
    for (const name of created) chunks.set(name, { name, unit: unitOfChunk(name), entries: new Map() });
  }

  async function save(chunk: InventoryChunk): Promise<void> {
    const { name } = chunk;
    if (chunk.entries.size === 0 && chunks.has(name)) {
      await maps.deleteChunk(name);
      chunks.delete(name);
      return;
    }
    await maps.writeChunk(name, textOf(chunk));
    chunks.set(name, chunk);
  }
}

function textOf(chunk: InventoryChunk | undefined): string {
  return serializeEntries([...(chunk?.entries.values() ?? [])]);
}

function chunkOf({ server }: Client, object: KubeObject): InventoryChunk {
  const { name, labels } = object.metadata;
  const text = textAt(object, 'data', 'entries');
  if (text === undefined) throw damagedInventory(object, server, 'data.entries is missing');
  try {
    const entries = parseEntries(text);
    return {
      name,
      unit: labels?.[LABEL_UNIT] ?? '',
      entries: new Map(entries.map((entry) => [objectKey(entry), entry])),
    };
  } catch (error) {
    throw damagedInventory(object, server, messageOf(error));
  }
}

function appliedOf({ commit, digest }: StateFields): AppliedState | undefined {
  return commit && digest ? { commit, digest } : undefined;
}
