import { describe, expect, it } from 'vitest';
import { parseTree } from '../../../../src/sync/git/http/objects.ts';
import { createNewObjects } from '../../../../src/sync/git/revert/new-objects.ts';
import { mergeTrees } from '../../../../src/sync/git/revert/tree-merge.ts';
import type { RawObject } from '../../../../src/sync/git/transport.ts';

/** Folders have names that end with a slash. An executable has a value that begins with `x:`. */
type Tree = { readonly [name: string]: string | Tree };

const trees = new Map<string, RawObject>();
const reader = { read: async (oid: string) => trees.get(oid), close: async () => undefined };

function idOf(content: string): string {
  return Buffer.from(content.padEnd(20, '.')).toString('hex').slice(0, 40);
}

/** Writes the entries in the order of git. */
function treeOf(tree: Tree): string {
  const sortKey = (name: string): Buffer => Buffer.from(typeof tree[name] === 'string' ? name : `${name}/`);
  const names = Object.keys(tree).toSorted((a, b) => Buffer.compare(sortKey(a), sortKey(b)));
  const content = Buffer.concat(
    names.flatMap((name) => {
      const value = tree[name] ?? '';
      const isFile = typeof value === 'string';
      const mode = isFile ? (value.startsWith('x:') ? '100755' : '100644') : '40000';
      const oid = isFile ? idOf(value.replace(/^x:/, '')) : treeOf(value);
      return [Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')];
    }),
  );
  const oid = createNewObjects().add('tree', content);
  trees.set(oid, { type: 'tree', content });
  return oid;
}

async function merge(base: Tree, ours: Tree, theirs: Tree): Promise<Tree | readonly string[] | undefined> {
  const objects = createNewObjects();
  const sides = { base: treeOf(base), ours: treeOf(ours), theirs: treeOf(theirs) };
  const { tree, conflicts } = await mergeTrees(reader, sides, objects);
  if (conflicts.length > 0) return conflicts;
  if (tree === undefined) return undefined;
  for (const each of objects.list()) trees.set(createNewObjects().add('tree', each.content), each);
  return readBack(tree);
}

function readBack(oid: string): Tree {
  const raw = trees.get(oid);
  if (!raw) throw new Error(`the merge has no tree ${oid}`);
  const entries = parseTree(oid, raw).map(({ name, mode, type, oid: child }): [string, string | Tree] => {
    if (type === 'folder') return [name, readBack(child)];
    const text = Buffer.from(child, 'hex').toString().replace(/\.+$/, '');
    return [name, mode === '100755' ? `x:${text}` : text];
  });
  return Object.fromEntries(entries);
}

/** Returns a tree with the file in the last of 70 folders. */
function nested(file: Tree): Tree {
  return Array.from({ length: 70 }).reduce<Tree>((inner) => ({ d: inner }), file);
}

describe('mergeTrees', () => {
  it.each<[string, Tree, Tree, Tree, Tree]>([
    ['the tree before, if the head is the failing commit', { a: '2' }, { a: '2' }, { a: '1' }, { a: '1' }],
    [
      'a changed file back, and keeps a later file',
      { a: '2' },
      { a: '2', b: '1' },
      { a: '1' },
      { a: '1', b: '1' },
    ],
    ['an added file away', { a: '1', n: '1' }, { a: '2', n: '1' }, { a: '1' }, { a: '2' }],
    [
      'a removed file back',
      { k: '1' },
      { k: '1', later: '1' },
      { k: '1', a: '1' },
      { k: '1', a: '1', later: '1' },
    ],
    [
      'nothing of what is taken back already',
      { a: '2', b: '1' },
      { a: '1', b: '2' },
      { a: '1', b: '1' },
      { a: '1', b: '2' },
    ],
    ['the right to execute', { a: 'x:1' }, { a: 'x:1', b: '1' }, { a: '1' }, { a: '1', b: '1' }],
    [
      'files in folders',
      { f: { a: '2', b: '1' } },
      { f: { a: '2', b: '2' } },
      { f: { a: '1', b: '1' } },
      { f: { a: '1', b: '2' } },
    ],
    ['an added folder away', { f: { a: '1' }, b: '1' }, { f: { a: '1' }, b: '2' }, { b: '1' }, { b: '2' }],
    [
      'a removed folder back into a new one',
      { b: '1' },
      { b: '1', f: { n: '1' } },
      { b: '1', f: { a: '1' } },
      { b: '1', f: { a: '1', n: '1' } },
    ],
    [
      'a folder that was a file',
      { a: { x: '1' } },
      { a: { x: '1' }, b: '1' },
      { a: '1' },
      { a: '1', b: '1' },
    ],
  ])('takes %s', async (_, ...[base, ours, theirs, expected]) => {
    expect(await merge(base, ours, theirs)).toEqual(expected);
  });

  it('keeps the order of git, where a folder sorts as if its name ended with a slash', async () => {
    const ours = { 'a-b': '1', a: { n: '2', k: '1' }, 'a.b': '1', ä: '1' };
    const merged = await merge({ a: { n: '2' } }, ours, { a: { n: '1' } });
    expect(merged).toEqual({ ...ours, a: { n: '1', k: '1' } });
    expect(Object.keys(merged ?? {})).toEqual(['a-b', 'a.b', 'a', 'ä']);
  });

  it.each<[string, Tree, Tree, Tree, string[]]>([
    ['a file that a later commit changed', { a: '2' }, { a: '3' }, { a: '1' }, ['a']],
    ['an added file that a later commit changed', { a: '2' }, { a: '3', b: '1' }, {}, ['a']],
    [
      'a file that a later commit deleted',
      { f: { a: '2' }, b: '1' },
      { b: '1' },
      { f: { a: '1' }, b: '1' },
      ['f/a'],
    ],
    ['a removed file that a later commit created', { b: '1' }, { a: '3', b: '1' }, { a: '1', b: '1' }, ['a']],
    ['a file in place of a folder', { a: { x: '2' } }, { a: '1' }, { a: { x: '1' } }, ['a']],
    [
      'each of them',
      { a: '2', f: { b: '2' } },
      { a: '3', f: { b: '3' } },
      { a: '1', f: { b: '1' } },
      ['a', 'f/b'],
    ],
  ])('reports a conflict for %s', async (_, ...[base, ours, theirs, expected]) => {
    expect(await merge(base, ours, theirs)).toEqual(expected);
  });

  it('reports a conflict for folders that are nested deeper than others are listed', async () => {
    const sides = [{ a: '2' }, { a: '2', b: '1' }, { a: '1' }].map(nested);
    const [base = {}, ours = {}, theirs = {}] = sides;
    expect(await merge(base, ours, theirs)).toEqual(['d/'.repeat(64)]);
  });

  it('returns no tree if nothing is left', async () => {
    expect(await merge({ a: '1' }, { a: '1' }, {})).toEqual({});
    expect(await merge({ a: '1', b: '1' }, { b: '1' }, { a: '1' })).toBeUndefined();
  });

  it('adds only the trees on the way to a change', async () => {
    const base = { f: { a: '2' }, g: { k: '1' } };
    const objects = createNewObjects();
    const sides = {
      base: treeOf(base),
      ours: treeOf({ ...base, later: '1' }),
      theirs: treeOf({ ...base, f: { a: '1' } }),
    };
    await mergeTrees(reader, sides, objects);
    expect(objects.list()).toHaveLength(1);
  });
});
