/**
 * The objects that sync has written, or is about to write, in one cluster. Entries are durable before the first write and
 * removed only when the object is confirmed deleted: a process killed at any line finds every object again.
 * Pure: store.ts reads and writes it.
 */
import { byCode } from '../../../kube/objects/digest.ts';
import { textAt } from '../../../kube/objects/json.ts';
import { type ObjectId, objectKey } from '../../../kube/objects/object-id.ts';

/** The inventory cannot be read. It is unknown, never empty: nothing is written or deleted by it. */
export class DamagedInventory extends Error {
  override readonly name = 'DamagedInventory';
}

export interface Confirmed {
  /** The commit that brought the content. */
  readonly commit: string;
  /** Digest of the content. */
  readonly applied: string;
}

export interface InventoryEntry extends ObjectId {
  readonly version: string;
  readonly unit: string;
  /** The previous unit, while the object moves: its label may still name that one. */
  readonly from?: string;
  /** The commit that the entry was last written for. */
  readonly commit: string;
  /** Digest of what the server confirmed; absent while a write is only intended. */
  readonly applied?: string;
  /**
   * The content that the server confirmed before that write was intended: fields in it are ours, also if others have taken them
   * since.
   */
  readonly before?: Confirmed;
  /** The UID of the object that the server confirmed. */
  readonly uid?: string;
  /** Another client created it, and sync took it over: it is released, never deleted. */
  readonly adopted?: true;
  /** True if the object was not listed, and was found by its owner labels: a person deleted the inventory. */
  readonly found?: true;
  /** The time when a protected object was marked for deletion. A later reconcile deletes it. */
  readonly markedAt?: string;
  /** The id of the acknowledgement that released the delete of the object with exactly this `uid`. */
  readonly acknowledgedBy?: string;
}

export interface Inventory {
  /** The cluster that the inventory describes. One that was restored into another cluster is rejected. */
  readonly clusterUID: string;
  readonly entries: ReadonlyMap<string, InventoryEntry>;
  /** Ids of acknowledgements that have released a plan here, newest first. */
  readonly spent: readonly string[];
}

/** The most ids that are kept: five times the acknowledgements of a Pipeline. An id that is forgotten was removed from git long ago. */
const MAX_SPENT = 80;

/** Returns the spent acknowledgements after these entries are written; undefined if they are recorded already. */
export function spentAfter(
  { spent }: Pick<Inventory, 'spent'>,
  entries: readonly InventoryEntry[],
): readonly string[] | undefined {
  const ids = entries.flatMap(({ acknowledgedBy }) => acknowledgedBy ?? []);
  const added = [...new Set(ids)].filter((id) => !spent.includes(id)).toSorted(byCode);
  return added.length === 0 ? undefined : [...added, ...spent].slice(0, MAX_SPENT);
}

export function entriesOfUnit({ entries }: Inventory, unit: string): InventoryEntry[] {
  return [...entries.values()].filter((entry) => entry.unit === unit);
}

export function inventoryUnits({ entries }: Inventory): string[] {
  return [...new Set([...entries.values()].map(({ unit }) => unit))].toSorted(byCode);
}

/**
 * Returns the entries that must be durable before the first write: new objects, moved objects, other versions of a kind, and
 * objects that git declares again after their delete was marked or acknowledged.
 */
export function missingIntents({ entries }: Inventory, intents: readonly InventoryEntry[]): InventoryEntry[] {
  return intents.flatMap((entry) => {
    const present = entries.get(objectKey(entry));
    if (!present) return [entry];
    if (present.unit !== entry.unit) return [{ ...entry, from: present.unit, ...originOf(present) }];
    const isDeleting = present.markedAt !== undefined || present.acknowledgedBy !== undefined;
    const same = present.version === entry.version && !isDeleting;
    return same ? [] : [{ ...entry, ...originOf(present) }];
  });
}

function originOf(present: InventoryEntry): Pick<InventoryEntry, 'uid' | 'adopted' | 'before'> {
  const { uid, adopted } = present;
  const before = confirmedOf(present);
  return {
    ...(uid === undefined ? {} : { uid }),
    ...(adopted ? { adopted } : {}),
    ...(before === undefined ? {} : { before }),
  };
}

export function confirmedOf({ commit, applied, before }: InventoryEntry): Confirmed | undefined {
  return applied === undefined ? before : { commit, applied };
}

/** Writes one line of JSON for each entry, sorted by key: a change of one object is a change of one line. */
export function serializeEntries(entries: readonly InventoryEntry[]): string {
  return entries
    .map((entry) => ({ key: objectKey(entry), entry }))
    .toSorted((a, b) => byCode(a.key, b.key))
    .map(({ entry }) => `${JSON.stringify(entry)}\n`)
    .join('');
}

/** Parses the entries. Throws if any line is not an entry: a damaged inventory is unknown, never empty. */
export function parseEntries(text: string): InventoryEntry[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const entry: unknown = JSON.parse(line);
      if (isEntry(entry)) return entry;
      throw new TypeError(`expected an inventory entry, got ${line.slice(0, 200)}`);
    });
}

const TEXT_FIELDS = ['group', 'kind', 'namespace', 'name', 'version', 'unit', 'commit'];

function isEntry(value: unknown): value is InventoryEntry {
  return TEXT_FIELDS.every((field) => textAt(value, field) !== undefined);
}
