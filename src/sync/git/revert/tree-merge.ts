/**
 * Merges three trees by path: what changed between `base` and `theirs` is carried out on `ours`. Files are whole: a file that both sides
 * changed is a conflict, however far apart the lines are, because a wrong merge would reach clusters without a review.
 */
import { parseTree, type TreeEntry } from '../http/objects.ts';
import type { ObjectReader } from '../transport.ts';
import { readRequired } from '../tree.ts';
import type { NewObjects } from './new-objects.ts';

export interface TreeMerge {
  /** Absent: nothing is left in the folder. */
  readonly tree?: string;
  /** The paths that both sides changed. */
  readonly conflicts: readonly string[];
}

/** The ids of the trees of one folder. Absent: the side has no such folder. */
interface Sides {
  readonly base: string | undefined;
  readonly ours: string | undefined;
  readonly theirs: string | undefined;
}

interface EntrySides {
  readonly base: TreeEntry | undefined;
  readonly ours: TreeEntry | undefined;
  readonly theirs: TreeEntry | undefined;
}

/** Deeper trees are refused where they are listed. */
const MAX_DEPTH = 64;

export async function mergeTrees(
  reader: ObjectReader,
  sides: Readonly<Record<keyof Sides, string>>,
  objects: NewObjects,
): Promise<TreeMerge> {
  const conflicts: string[] = [];
  const tree = await mergeFolder(sides, '');
  return { conflicts, ...(tree === undefined ? {} : { tree }) };

  async function mergeFolder(folders: Sides, prefix: string): Promise<string | undefined> {
    const decided = decide(folders);
    if (decided) return decided.result;
    if (prefix.split('/').length > MAX_DEPTH) {
      conflicts.push(prefix);
      return folders.ours;
    }
    const all = {
      base: await entriesOf(folders.base),
      ours: await entriesOf(folders.ours),
      theirs: await entriesOf(folders.theirs),
    };
    const merged: TreeEntry[] = [];
    for (const name of new Set([...all.base.keys(), ...all.ours.keys(), ...all.theirs.keys()])) {
      const entries = { base: all.base.get(name), ours: all.ours.get(name), theirs: all.theirs.get(name) };
      const entry = await mergeEntry(entries, name, prefix);
      if (entry) merged.push(entry);
    }
    return merged.length === 0 ? undefined : objects.add('tree', treeContent(merged));
  }

  async function mergeEntry(
    entries: EntrySides,
    name: string,
    prefix: string,
  ): Promise<TreeEntry | undefined> {
    const decided = decideEntry(entries);
    if (decided) return decided.result;
    const path = `${prefix}${name}`;
    const folders = foldersOf(entries);
    if (!folders) {
      conflicts.push(path);
      return entries.ours;
    }
    const oid = await mergeFolder(folders, `${path}/`);
    return oid === undefined ? undefined : { name, mode: '40000', oid, type: 'folder' };
  }

  async function entriesOf(oid: string | undefined): Promise<ReadonlyMap<string, TreeEntry>> {
    if (oid === undefined) return new Map();
    const entries = parseTree(oid, await readRequired(reader, oid));
    return new Map(entries.map((entry) => [entry.name, entry]));
  }
}

/** Returns the side that is taken as it is. Undefined: all three differ. */
function decide<T>({
  base,
  ours,
  theirs,
}: {
  readonly base: T;
  readonly ours: T;
  readonly theirs: T;
}): { readonly result: T } | undefined {
  if (base === theirs || ours === theirs) return { result: ours };
  return base === ours ? { result: theirs } : undefined;
}

function decideEntry(entries: EntrySides): { readonly result: TreeEntry | undefined } | undefined {
  const { base, ours, theirs } = entries;
  const keys = { base: keyOf(base), ours: keyOf(ours), theirs: keyOf(theirs) };
  const decided = decide(keys);
  if (!decided) return undefined;
  return { result: decided.result === keys.ours ? ours : theirs };
}

/** Two entries with the same key are the same file, with the same rights. */
function keyOf(entry: TreeEntry | undefined): string | undefined {
  return entry && `${entry.mode} ${entry.oid}`;
}

/** Returns undefined if one of the sides has a file of this name. */
function foldersOf({ base, ours, theirs }: EntrySides): Sides | undefined {
  if ([base, ours, theirs].some(isFile)) return undefined;
  return { base: base?.oid, ours: ours?.oid, theirs: theirs?.oid };
}

function isFile(entry: TreeEntry | undefined): boolean {
  return entry !== undefined && entry.type !== 'folder';
}

/** Git sorts by bytes, and a folder as if its name ended with a slash. */
function treeContent(entries: readonly TreeEntry[]): Buffer {
  const sorted = entries.toSorted((a, b) => Buffer.compare(sortKey(a), sortKey(b)));
  return Buffer.concat(
    sorted.flatMap(({ mode, name, oid }) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]),
  );
}

function sortKey({ name, type }: TreeEntry): Buffer {
  return Buffer.from(type === 'folder' ? `${name}/` : name);
}
