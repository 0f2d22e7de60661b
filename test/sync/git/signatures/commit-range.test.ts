import { describe, expect, it } from 'vitest';
import { findCommitRange, MAX_RANGE } from '../../../../src/sync/git/signatures/commit-range.ts';
import type { ObjectReader } from '../../../../src/sync/git/transport.ts';

const oid = (name: string): string => name.repeat(40);

/** `c9 b a`: commit c of time 9 with the parents b and a. Where two commits are not in the order of time, their clocks were wrong. */
function readerOf(commits: readonly string[]): ObjectReader {
  const objects = new Map(
    commits.map((text) => {
      const [head = '', ...parents] = text.split(' ');
      const lines = [`tree ${oid('0')}`, ...parents.map((parent) => `parent ${oid(parent)}`)];
      return [oid(head[0] ?? ''), [...lines, `committer C <c@d> ${head.slice(1)} +0000`, '', 'm'].join('\n')];
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

async function rangeIn(
  commits: readonly string[],
  { head = 'd', before = 'b', canFetchMore = true } = {},
): Promise<string> {
  const question = { head: oid(head), before: oid(before), canFetchMore };
  const range = await findCommitRange(readerOf(commits), question);
  return typeof range === 'string' ? range : range.commits.map(({ info }) => info.oid[0]).join('');
}

describe('the commits that a head adds', () => {
  it.each<[name: string, commits: string[], expected: string]>([
    ['those of a line, the newest first', ['d4 c', 'c3 b', 'b2 a', 'a1'], 'dc'],
    ['those of a merged branch that began before', ['d5 b c', 'c4 a', 'b3 a', 'a1'], 'dc'],
    [
      'none that is older, although the head reaches it by another way',
      ['d5 c b', 'c4 a', 'b3 a', 'a1'],
      'dc',
    ],
    ['no merged commit that the accepted one contains', ['d6 b c', 'b5 c', 'c2 a', 'a1'], 'd'],
    ['all of another history', ['d4 c', 'c3', 'b2'], 'dc'],
    ['no old commit that claims to be new', ['d3 b c', 'b2 c', 'c9 a', 'a1'], 'd'],
    [
      'also an old one where dates hide it: more is verified',
      ['d9 c b', 'c3 e', 'e8', 'b2 f', 'f1 e'],
      'dec',
    ],
    ['a new commit that claims to be old', ['d4 c', 'c0 b', 'b2 a', 'a1'], 'dc'],
    ['unknown where a new commit leads to one that was not fetched', ['d5 b c', 'b3 a', 'a1'], 'unknown'],
    ['known where only older ones were not fetched', ['d4 c', 'c3 b', 'b2 a'], 'dc'],
    [
      'unknown where what was not fetched may lead to what looks new',
      ['d9 b c', 'c8 a', 'b7 e', 'a1'],
      'unknown',
    ],
    ['unknown where the accepted commit was not fetched', ['d4'], 'unknown'],
    ['unknown where the head was not fetched', ['b4'], 'unknown'],
  ])('S19 the range to verify has %s', async (_, commits, expected) => {
    expect(await rangeIn(commits)).toBe(expected);
  });

  it('S19 the range to verify has what looks new, where the server has no more of the older history', async () => {
    expect(await rangeIn(['d9 b c', 'c8 a', 'b7 e', 'a1'], { canFetchMore: false })).toBe('dca');
    expect(await rangeIn(['d9 b c', 'c8 e', 'b7'], { canFetchMore: false })).toBe('unknown');
  });

  it('S19 do not exist where the head is accepted already', async () => {
    expect(await rangeIn(['d4 c', 'c3'], { before: 'd' })).toBe('');
  });

  it('S19 are too many beyond a limit', async () => {
    expect(await rangeOfLine(MAX_RANGE + 1, { before: 0, last: MAX_RANGE + 1 })).toBe('large');
    expect(await rangeOfLine(MAX_RANGE, { before: 0, last: MAX_RANGE })).toMatchObject({
      commits: { length: MAX_RANGE },
    });
  });

  it('S19 are too many where a wrong date makes the walk read too far back', async () => {
    expect(await rangeOfLine(1000, { before: 999, last: 999 })).toMatchObject({ commits: { length: 1 } });
    expect(await rangeOfLine(200_000, { before: 199_999, last: 199_999 })).toBe('large');
  });
});

async function rangeOfLine(
  head: number,
  { before, last }: { readonly before: number; readonly last: number },
): Promise<unknown> {
  const question = { head: numbered(head), before: numbered(before), canFetchMore: true };
  return await findCommitRange(lineOf(last), question);
}

/** Commit n is of time n, with the parent n - 1. Those after the last one claim to be older than all. */
function lineOf(last: number): ObjectReader {
  return {
    read: async (commit) => {
      const index = Number.parseInt(commit, 16);
      const parent = index === 0 ? '' : `parent ${numbered(index - 1)}\n`;
      const time = index > last ? 0 : index;
      const content = Buffer.from(`tree ${oid('0')}\n${parent}committer C <c@d> ${time} +0000\n\nm`);
      return { type: 'commit', content };
    },
    close: async () => undefined,
  };
}

function numbered(index: number): string {
  return index.toString(16).padStart(40, '0');
}
