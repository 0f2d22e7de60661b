/**
 * Distributes the inventory of a unit over ConfigMaps. An entry never moves from one ConfigMap to another of its unit, so
 * that no order of writes can lose an entry. Pure.
 */

import { byCode } from '../../../kube/objects/digest.ts';
import { objectKey } from '../../../kube/objects/object-id.ts';
import type { InventoryEntry } from './inventory.ts';

/** Well below the 1 MiB of a ConfigMap and the 1.5 MiB of an etcd request. */
const MAX_BYTES = 192 * 1024;
export const CHUNK_PREFIX = 'inventory-';

export interface InventoryChunk {
  readonly name: string;
  readonly unit: string;
  readonly entries: ReadonlyMap<string, InventoryEntry>;
}

/** The chunks that change when these entries are added: each in the chunk that has it, or in the first one with room. */
export function chunksWithAdditions(
  chunks: readonly InventoryChunk[],
  added: readonly InventoryEntry[],
): InventoryChunk[] {
  const byName = new Map(chunks.map((chunk) => [chunk.name, chunk]));
  const chunkNames = new Map(
    chunks.flatMap(({ name, unit, entries }) => [...entries.keys()].map((key) => [`${unit} ${key}`, name])),
  );
  const bytes = new Map(
    chunks.map(({ name, entries }) => [
      name,
      [...entries.values()].reduce((sum, entry) => sum + sizeOf(entry), 0),
    ]),
  );
  const drafts = new Map<string, Map<string, InventoryEntry>>();
  for (const entry of added) {
    const key = objectKey(entry);
    const name = chunkNames.get(`${entry.unit} ${key}`) ?? firstWithRoom(entry, bytes);
    const draft = drafts.get(name) ?? new Map(byName.get(name)?.entries);
    bytes.set(name, (bytes.get(name) ?? 0) + sizeOf(entry));
    drafts.set(name, draft.set(key, entry));
  }
  const unitOf = new Map(added.map((entry) => [objectKey(entry), entry.unit]));
  return [...drafts].map(([name, entries]) => {
    const unit =
      byName.get(name)?.unit ?? [...entries.keys()].map((key) => unitOf.get(key)).find(Boolean) ?? '';
    return { name, unit, entries };
  });
}

function firstWithRoom(entry: InventoryEntry, bytes: ReadonlyMap<string, number>): string {
  const size = sizeOf(entry);
  let index = 0;
  while ((bytes.get(chunkName(entry.unit, index)) ?? 0) + size > MAX_BYTES) index += 1;
  return chunkName(entry.unit, index);
}

function chunkName(unit: string, index: number): string {
  return `${CHUNK_PREFIX}${unit}-${index}`;
}

export function unitOfChunk(name: string): string {
  return name.slice(CHUNK_PREFIX.length).replace(/-\d+$/, '');
}

/** The chunks that change when these keys are removed, and `moved` entries are now in a chunk of another unit. */
export function chunksWithRemovals(
  chunks: readonly InventoryChunk[],
  removed: ReadonlySet<string>,
  moved: readonly InventoryEntry[],
): InventoryChunk[] {
  const unitOf = new Map(moved.map((entry) => [objectKey(entry), entry.unit]));
  return chunks
    .toSorted((a, b) => byCode(a.name, b.name))
    .flatMap((chunk) => {
      const stays = (key: string): boolean =>
        !removed.has(key) && (unitOf.get(key) ?? chunk.unit) === chunk.unit;
      const entries = [...chunk.entries].filter(([key]) => stays(key));
      return entries.length === chunk.entries.size ? [] : [{ ...chunk, entries: new Map(entries) }];
    });
}

/** An object that moves between units is in two chunks until the old one is written. The unconfirmed entry wins. */
export function mergeChunks(chunks: readonly InventoryChunk[]): Map<string, InventoryEntry> {
  const all = new Map<string, InventoryEntry>();
  for (const { entries } of chunks) {
    for (const [key, entry] of entries) {
      if (!all.has(key) || entry.applied === undefined) all.set(key, entry);
    }
  }
  return all;
}

/** About the length of its line. To serialize each entry only to measure it would take longer than to write it. */
function sizeOf(entry: InventoryEntry): number {
  return Object.entries(entry).reduce(
    (sum, [field, value]) => sum + field.length + String(value).length + 6,
    2,
  );
}
