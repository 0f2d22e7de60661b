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
  const place = createPlacement(chunks, byName);
  const drafts = new Map<string, Draft>();
  for (const entry of added) {
    const name = place(entry);
    const before = byName.get(name);
    const unit = before?.unit ?? entry.unit;
    const draft = drafts.get(name) ?? { unit, entries: new Map(before?.entries) };
    draft.entries.set(objectKey(entry), entry);
    drafts.set(name, draft);
  }
  return [...drafts].map(([name, draft]) => ({ name, ...draft }));
}

interface Draft {
  readonly unit: string;
  readonly entries: Map<string, InventoryEntry>;
}

/** Finds the name of the chunk that an entry belongs to. */
function createPlacement(
  chunks: readonly InventoryChunk[],
  byName: ReadonlyMap<string, InventoryChunk>,
): (entry: InventoryEntry) => string {
  const ofUnit = Map.groupBy(chunks, ({ unit }) => unit);
  const bytes = new Map<string, number>();
  return (entry) => {
    const key = objectKey(entry);
    const present = ofUnit.get(entry.unit)?.find(({ entries }) => entries.has(key));
    return present?.name ?? firstWithRoom(entry, byName, bytes);
  };
}

/** `bytes` of the ConfigMaps of the unit that were measured. Only a new entry needs to know whether there is room. */
function firstWithRoom(
  entry: InventoryEntry,
  chunks: ReadonlyMap<string, InventoryChunk>,
  bytes: Map<string, number>,
): string {
  const size = sizeOf(entry);
  for (let index = 0; ; index += 1) {
    const name = chunkName(entry.unit, index);
    const used = bytes.get(name) ?? sizeOfChunk(chunks.get(name));
    const fits = used === 0 || used + size <= MAX_BYTES;
    bytes.set(name, fits ? used + size : used);
    if (fits) return name;
  }
}

function sizeOfChunk(chunk: InventoryChunk | undefined): number {
  return [...(chunk?.entries.values() ?? [])].reduce((sum, entry) => sum + sizeOf(entry), 0);
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

function sizeOf(entry: InventoryEntry): number {
  return JSON.stringify(entry).length + 1;
}
