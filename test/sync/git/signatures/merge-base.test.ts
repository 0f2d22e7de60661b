import { describe, expect, it } from 'vitest';
import { mergeBase } from '../../../../src/sync/git/signatures/merge-base.ts';

/** Each commit is a letter, with its parents after it. */
function graph(text: string): Map<string, string[]> {
  return new Map(text.split(' ').map(([commit = '', ...parents]) => [commit, parents]));
}

describe('the merge base of two commits', () => {
  it.each<[name: string, commits: string, expected: string | undefined]>([
    ['the commit where both began', 'xb yb ba a', 'b'],
    ['the older one of two commits in a row', 'xy yb b', 'y'],
    ['the newest one of several', 'xcb yc cb b', 'c'],
    ['none where the histories have nothing in common', 'xa yb a b', undefined],
    ['none where two are equally good', 'xab yab ac bc c', undefined],
    ['none where it was not read', 'xb yb', undefined],
  ])('S19 a merge is compared with %s', (_, commits, expected) => {
    expect(mergeBase(graph(commits), 'x', 'y')).toBe(expected);
    expect(mergeBase(graph(commits), 'y', 'x')).toBe(expected);
  });
});
