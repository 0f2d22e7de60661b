/**
 * Finds the paths that a commit changes by itself. Of a merge these are the paths where it differs from a clean merge of its parents:
 * what it merges was signed by others, and what it leaves out, or changes beside that, is its own.
 */
import type { CommitInfo, ObjectReader } from '../transport.ts';
import { changesBetween } from '../tree.ts';
import { mergeBase } from './merge-base.ts';

export interface ChangeReader {
  /** Returns the paths that a commit changes by itself. */
  ownPaths(commit: CommitInfo): Promise<readonly string[]>;
  /** Returns the paths that differ between two commits. */
  pathsBetween(from: string, to: string): Promise<readonly string[]>;
}

export interface ChangeReaderOptions {
  readonly reader: ObjectReader;
  readonly parents: ReadonlyMap<string, readonly string[]>;
  readonly treeOf: (commit: string) => Promise<string>;
}

export function createChangeReader({ reader, parents, treeOf }: ChangeReaderOptions): ChangeReader {
  return { ownPaths, pathsBetween };

  async function ownPaths({ oid, parents: [one, other, ...more] }: CommitInfo): Promise<readonly string[]> {
    if (one === undefined) return pathsOf(await changesBetween(reader, undefined, await treeOf(oid)));
    if (other === undefined) return pathsBetween(one, oid);
    const base = more.length === 0 ? mergeBase(parents, one, other) : undefined;
    if (base !== undefined) return mergedByHand(oid, [one, other], base);
    const all: string[] = [];
    for (const parent of [one, other, ...more]) all.push(...(await pathsBetween(parent, oid)));
    return [...new Set(all)];
  }

  /** A path that is as in one parent only is merged cleanly when the other parent left it as it was in the base. */
  async function mergedByHand(
    oid: string,
    sides: readonly [string, string],
    base: string,
  ): Promise<readonly string[]> {
    const differs = [await pathsBetween(sides[0], oid), await pathsBetween(sides[1], oid)] as const;
    const changed = [await pathsBetween(base, sides[0]), await pathsBetween(base, sides[1])] as const;
    const fromNeither = differs[0].filter(isIn(differs[1]));
    const leftOut = [...differs[0].filter(isIn(changed[0])), ...differs[1].filter(isIn(changed[1]))];
    return [...new Set([...fromNeither, ...leftOut])];
  }

  async function pathsBetween(from: string, to: string): Promise<readonly string[]> {
    return pathsOf(await changesBetween(reader, await treeOf(from), await treeOf(to)));
  }
}

function isIn(paths: readonly string[]): (path: string) => boolean {
  const all = new Set(paths);
  return (path) => all.has(path);
}

function pathsOf(changes: readonly { readonly path: string }[]): readonly string[] {
  return changes.map(({ path }) => path);
}
