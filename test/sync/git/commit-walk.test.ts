import { describe, expect, it } from 'vitest';
import { isAncestor } from '../../../src/sync/git/commit-walk.ts';
import type { ObjectReader } from '../../../src/sync/git/transport.ts';

const oid = (name: string): string => name.repeat(40);

/** Commits with their parents; a parent that is not listed was not fetched. */
function readerOf(commits: Readonly<Record<string, string>>): ObjectReader {
  const objects = new Map(
    Object.entries(commits).map(([name, parents]) => {
      const headers = parents.split('').map((parent) => `parent ${oid(parent)}`);
      return [oid(name), [`tree ${oid('0')}`, ...headers, '', 'message'].join('\n')];
    }),
  );
  return {
    read: async (id) => {
      const text = objects.get(id);
      return text === undefined ? undefined : { type: 'commit', content: Buffer.from(text) };
    },
    close: async () => undefined,
  };
}

describe('isAncestor', () => {
  it.each<[name: string, commits: Record<string, string>, ancestor: string, found: boolean | 'unknown']>([
    ['finds the head itself', { a: '' }, 'a', true],
    ['finds an older commit', { c: 'b', b: 'a', a: '' }, 'a', true],
    ['finds a commit through any parent of a merge', { c: 'ba', b: '', a: '' }, 'a', true],
    ['is false when the whole history was fetched', { c: 'b', b: '' }, 'a', false],
    ['is unknown beyond a shallow boundary', { c: 'b' }, 'a', 'unknown'],
    ['is true although other parents were not fetched', { c: 'bd', b: 'a', a: '' }, 'a', true],
  ])('%s', async (_, commits, ancestor, found) => {
    const [head = ''] = Object.keys(commits);
    expect(await isAncestor(oid(ancestor), oid(head), readerOf(commits))).toBe(found);
  });
});
