/**
 * What sync has put, or is about to put, into one cluster. It is durable there before the first write, and an
 * entry leaves only when its object is confirmed gone: killed at any line, sync finds every object again.
 * Pure: the shell in inventory-store.ts reads and writes it.
 */

import { byCode } from '../../../kube/objects/digest.ts';
import { textAt } from '../../../kube/objects/json.ts';
import { type ObjectId, objectKey } from '../../../kube/objects/object-id.ts';

export interface InventoryEntry extends ObjectId {
  readonly version: string;
  readonly unit: string;
  /** While an object moves between units: the one whose mark it may still carry. */
  readonly from?: string;
  /** The commit that the entry was last written for. */
  readonly commit: string;
  /** Digest of what the server confirmed; absent while a write is only intended. */
  readonly applied?: string;
  /** Of the object that the server confirmed. */
  readonly uid?: string;
  /** First phase of deleting a protected object: marked at that moment, deleted by a later pass. */
  readonly markedAt?: string;
}

export interface Inventory {
  /** The cluster that it describes: an inventory restored into another cluster is not believed. */
  readonly clusterUID: string;
  readonly entries: ReadonlyMap<string, InventoryEntry>;
}

export function emptyInventory(clusterUID: string): Inventory {
  return { clusterUID, entries: new Map() };
}

export function entriesOfUnit({ entries }: Inventory, unit: string): InventoryEntry[] {
  return [...entries.values()].filter((entry) => entry.unit === unit);
}

export function unitsOf({ entries }: Inventory): string[] {
  return [...new Set([...entries.values()].map(({ unit }) => unit))].toSorted(byCode);
}

/** What must be durable before the first write: every object that is not there yet as this unit's, in this version. */
export function missingIntents({ entries }: Inventory, wanted: readonly InventoryEntry[]): InventoryEntry[] {
  return wanted.flatMap((entry) => {
    const present = entries.get(objectKey(entry));
    if (!present) return [entry];
    if (present.unit !== entry.unit) return [{ ...entry, from: present.unit, ...uidOf(present) }];
    const same = present.version === entry.version && present.markedAt === undefined;
    return same ? [] : [{ ...entry, ...uidOf(present) }];
  });
}

function uidOf({ uid }: InventoryEntry): { uid?: string } {
  return uid === undefined ? {} : { uid };
}

export function withConfirmed(
  inventory: Inventory,
  confirmed: readonly InventoryEntry[],
  gone: readonly string[],
): Inventory {
  const entries = new Map(inventory.entries);
  for (const entry of confirmed) entries.set(objectKey(entry), entry);
  for (const key of gone) entries.delete(key);
  return { ...inventory, entries };
}

// On the wire

/** Well below the 1 MiB of a ConfigMap and the 1.5 MiB of an etcd request. */
export const CHUNK_BYTES = 192 * 1024;

/** Lines of JSON, one an entry, sorted by key: a change of one object is a change of one line. */
export function serializeEntries(entries: readonly InventoryEntry[]): string {
  return entries
    .toSorted((a, b) => byCode(objectKey(a), objectKey(b)))
    .map((entry) => `${JSON.stringify(entry)}\n`)
    .join('');
}

/** Throws on anything that is not an entry: a damaged inventory is unknown, never empty. */
export function parseEntries(text: string): InventoryEntry[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const entry: unknown = JSON.parse(line);
      if (isEntry(entry)) return entry;
      throw new TypeError(`this is no entry of an inventory: ${line.slice(0, 200)}`);
    });
}

const TEXTS = ['group', 'kind', 'namespace', 'name', 'version', 'unit', 'commit'];

function isEntry(value: unknown): value is InventoryEntry {
  return TEXTS.every((field) => textAt(value, field) !== undefined);
}
