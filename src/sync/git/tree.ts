/** Files of a commit, and paths that differ between two commits. Equal folders are not read. */
import { GitError } from './errors.ts';
import { parseTree, type TreeEntry } from './http/objects.ts';
import type { ChangedPath, ObjectReader, RawObject, TreeFile } from './transport.ts';

// Far beyond any fleet repository. A tree cannot contain itself, but a few nested trees can expand to millions of files.
const MAX_DEPTH = 64;
const MAX_FILES = 200_000;

export async function listFiles(reader: ObjectReader, tree: string): Promise<TreeFile[]> {
  const files: TreeFile[] = [];
  await visit(tree, '', 0);
  return files.toSorted(byPath);

  async function visit(oid: string, prefix: string, depth: number): Promise<void> {
    if (depth > MAX_DEPTH || files.length > MAX_FILES) throw tooLarge(files.length, prefix);
    for (const { name, oid: child, type } of parseTree(oid, await readRequired(reader, oid))) {
      const path = `${prefix}${name}`;
      if (type === 'folder') await visit(child, `${path}/`, depth + 1);
      else files.push({ path, oid: child, type });
    }
  }
}

export async function changesBetween(reader: ObjectReader, from: string, to: string): Promise<ChangedPath[]> {
  const changes: ChangedPath[] = [];
  await compare(from, to, '');
  return changes.toSorted(byPath);

  async function compare(
    before: string | undefined,
    after: string | undefined,
    prefix: string,
  ): Promise<void> {
    if (before === after) return;
    const [oldEntries, newEntries] = [await entriesOf(before), await entriesOf(after)];
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

  async function entriesOf(oid: string | undefined): Promise<Map<string, TreeEntry>> {
    const entries = oid === undefined ? [] : parseTree(oid, await readRequired(reader, oid));
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

function tooLarge(files: number, prefix: string): GitError {
  return new GitError('TooLarge', `the tree is too large: ${files} files, folder ${prefix || '/'}`, {
    hint: `keep other code out of the fleet repository: at most ${MAX_FILES} files in ${MAX_DEPTH} levels of folders`,
  });
}

function byPath(a: { path: string }, b: { path: string }): number {
  return a.path < b.path ? -1 : Number(a.path > b.path);
}
