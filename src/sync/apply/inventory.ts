/**
 * What sync has put, or is about to put, into one cluster. It is durable there before the first write, and an
 * entry leaves only when its object is confirmed gone: killed at any line, sync finds every object again.
 * Pure: the shell in inventory-store.ts reads and writes it.
 */
import { textAt } from '../../kube/json.ts';
import { byCode } from '../digest.ts';
import { keyOf, type ObjectId } from './identity.ts';

export interface InventoryEntry extends ObjectId {
  readonly version: string;
  readonly unit: string;
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
  /** The commit whose objects were all confirmed last, by unit. */
  readonly commits: Readonly<Record<string, string>>;
  readonly entries: ReadonlyMap<string, InventoryEntry>;
}

export function emptyInventory(clusterUID: string): Inventory {
  return { clusterUID, commits: {}, entries: new Map() };
}

export function entriesOf({ entries }: Inventory, unit: string): InventoryEntry[] {
  return [...entries.values()].filter((entry) => entry.unit === unit);
}

export function unitsOf({ entries }: Inventory): string[] {
  return [...new Set([...entries.values()].map(({ unit }) => unit))].toSorted(byCode);
}

/** Old and new together: the intent that is written before the first write. Nothing leaves here. */
export function withIntent(inventory: Inventory, wanted: readonly InventoryEntry[]): Inventory {
  const entries = new Map(inventory.entries);
  for (const entry of wanted) {
    const key = keyOf(entry);
    const before = entries.get(key);
    const kept = before?.applied === undefined ? {} : { applied: before.applied };
    entries.set(key, { ...entry, ...kept, ...(before?.uid ? { uid: before.uid } : {}) });
  }
  return { ...inventory, entries };
}

/** Whether the intent is already durable, so that a pass without news writes nothing. */
export function covers({ entries }: Inventory, wanted: readonly InventoryEntry[]): boolean {
  return wanted.every((entry) => {
    const present = entries.get(keyOf(entry));
    return (
      present !== undefined &&
      present.unit === entry.unit &&
      present.version === entry.version &&
      present.markedAt === undefined
    );
  });
}

export function withConfirmed(
  inventory: Inventory,
  confirmed: readonly InventoryEntry[],
  gone: readonly string[],
): Inventory {
  const entries = new Map(inventory.entries);
  for (const entry of confirmed) entries.set(keyOf(entry), entry);
  for (const key of gone) entries.delete(key);
  return { ...inventory, entries };
}

// On the wire

/** Well below the 1 MiB of a ConfigMap and the 1.5 MiB of an etcd request. */
export const CHUNK_BYTES = 192 * 1024;

export interface Chunk {
  readonly unit: string;
  readonly index: number;
  /** Lines of JSON, one an entry, sorted by key: a change of one object is a change of one line. */
  readonly text: string;
}

export function toChunks(inventory: Inventory, unit: string): Chunk[] {
  const lines = entriesOf(inventory, unit)
    .toSorted((a, b) => byCode(keyOf(a), keyOf(b)))
    .map((entry) => `${JSON.stringify(entry)}\n`);
  const texts: string[] = [];
  let text = '';
  for (const line of lines) {
    if (text !== '' && text.length + line.length > CHUNK_BYTES) {
      texts.push(text);
      text = '';
    }
    text += line;
  }
  if (text !== '') texts.push(text);
  return texts.map((chunk, index) => ({ unit, index, text: chunk }));
}

/** Throws on anything that is not an entry: a damaged inventory is unknown, never empty. */
export function fromText(text: string): InventoryEntry[] {
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
