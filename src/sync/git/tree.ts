/** Files of a commit, and paths that differ between two commits. Equal folders are not read. */
import { GitError } from './errors.ts';
import { parseTree, type TreeEntry } from './http/objects.ts';
import type { ChangedPath, ObjectReader, RawObject, TreeFile } from './transport.ts';

// Far beyond any fleet repository. A tree cannot contain itself, but a few nested trees can expand to millions of files, or of
// folders without a file.
const MAX_DEPTH = 64;
const MAX_FILES = 200_000;
const MAX_FOLDERS = 20_000;

/** Reads trees, and counts what was read: all trees of one commit, or of the two that are compared. */
interface TreeReader {
  entries(oid: string, prefix: string): Promise<readonly TreeEntry[]>;
}

function createTreeReader(reader: ObjectReader): TreeReader {
  let folders = 0;
  let files = 0;
  return {
    async entries(oid, prefix) {
      folders += 1;
      if (folders > MAX_FOLDERS || files > MAX_FILES || depthOf(prefix) > MAX_DEPTH) {
        throw tooManyEntries(prefix);
      }
      const entries = parseTree(oid, await readRequired(reader, oid));
      files += entries.filter(({ type }) => type !== 'folder').length;
      return entries;
    },
  };
}

function depthOf(prefix: string): number {
  return prefix.split('/').length - 1;
}

export async function listFiles(reader: ObjectReader, tree: string): Promise<TreeFile[]> {
  const trees = createTreeReader(reader);
  const files: TreeFile[] = [];
  await visit(tree, '');
  return files.toSorted(byPath);

  async function visit(oid: string, prefix: string): Promise<void> {
    for (const { name, oid: child, type } of await trees.entries(oid, prefix)) {
      const path = `${prefix}${name}`;
      if (type === 'folder') await visit(child, `${path}/`);
      else files.push({ path, oid: child, type });
    }
  }
}

/** Compares two trees. Without the first one, all files of the second are added. */
export async function changesBetween(
  reader: ObjectReader,
  from: string | undefined,
  to: string,
): Promise<ChangedPath[]> {
  const trees = createTreeReader(reader);
  const changes: ChangedPath[] = [];
  await compare(from, to, '');
  return changes.toSorted(byPath);

  async function compare(
    before: string | undefined,
    after: string | undefined,
    prefix: string,
  ): Promise<void> {
    if (before === after) return;
    const [oldEntries, newEntries] = [await entriesOf(before, prefix), await entriesOf(after, prefix)];
    for (const name of new Set([...oldEntries.keys(), ...newEntries.keys()])) {
      await compareEntry(oldEntries.get(name), newEntries.get(name), `${prefix}${name}`);
    }
  }

  async function compareEntry(
    a: TreeEntry | undefined,
    b: TreeEntry | undefined,
    path: string,
  ): Promise<void> {
    if (isSame(a, b)) return;
    await compare(folderOf(a), folderOf(b), `${path}/`);
    changes.push(...changeOf(path, fileOf(a), fileOf(b)));
  }

  async function entriesOf(oid: string | undefined, prefix: string): Promise<Map<string, TreeEntry>> {
    const entries = oid === undefined ? [] : await trees.entries(oid, prefix);
    return new Map(entries.map((entry) => [entry.name, entry]));
  }
}

function isSame(a: TreeEntry | undefined, b: TreeEntry | undefined): boolean {
  return a?.oid === b?.oid && a?.type === b?.type;
}

function changeOf(path: string, from: string | undefined, to: string | undefined): ChangedPath[] {
  if (from !== undefined && to !== undefined) return [{ path, change: 'changed', from, to }];
  if (to !== undefined) return [{ path, change: 'added', to }];
  return from === undefined ? [] : [{ path, change: 'removed', from }];
}

function folderOf(entry: TreeEntry | undefined): string | undefined {
  return entry?.type === 'folder' ? entry.oid : undefined;
}

function fileOf(entry: TreeEntry | undefined): string | undefined {
  return entry && entry.type !== 'folder' ? entry.oid : undefined;
}

export async function readRequired(reader: ObjectReader, oid: string): Promise<RawObject> {
  const object = await reader.read(oid);
  if (object) return object;
  throw new GitError('NotFoundObject', `object ${oid} is missing in the local repository`, {
    hint: 'fetch the commit that contains it first',
  });
}

function tooManyEntries(prefix: string): GitError {
  return new GitError(
    'TooLarge',
    `the tree is too large: more than ${MAX_FOLDERS} folders, ${MAX_FILES} files or ${MAX_DEPTH} levels of folders`,
    {
      where: prefix.length > 200 ? `${prefix.slice(0, 200)}…` : prefix || '/',
      hint: 'keep other code out of the fleet repository',
    },
  );
}

function byPath(a: { path: string }, b: { path: string }): number {
  return a.path < b.path ? -1 : Number(a.path > b.path);
}
