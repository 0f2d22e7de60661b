import { describe, expect, it } from 'vitest';
import type { PullRequest } from '../../../src/sync/pulls/hosts/adapter.ts';
import {
  countedPages,
  MAX_LIST_PAGES,
  nextPage,
  PAGES_PER_ROUND,
  type PageRound,
  type PullPage,
  pullsOn,
} from '../../../src/sync/pulls/pages.ts';

/** Pull requests of the team, or of forks, with these numbers. */
function pulls(from: number, count: number, isFork = false): PullRequest[] {
  return Array.from({ length: count }, (_, index) => ({ number: from + index, head: 'h', isFork }));
}

const page = (own: readonly PullRequest[], hasNext = true): PullPage => ({ pulls: own, hasNext });
const FORKS = page(pulls(100, 50, true));
const forks = (count: number): readonly PullPage[] => Array<PullPage>(count).fill(FORKS);
const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** The pages of one round, of a list with this many pages. */
function round(before: Pick<PageRound, 'pages' | 'after'>, length: number): readonly number[] {
  let { pages } = before;
  const read: number[] = [];
  const next = (): number | undefined => nextPage({ ...before, pages, read });
  for (let number = next(); number !== undefined; number = next()) {
    const found = page(FORKS.pulls, number < length);
    pages = countedPages([...pages.slice(0, number - 1), found, ...pages.slice(number)]);
    read.push(number);
  }
  return read;
}

describe('S22 the pages of open pull requests', () => {
  it.each<[what: string, pages: readonly PullPage[], next: number | undefined]>([
    ['begin with the first', [], 1],
    ['go on behind those of forks', [FORKS], 2],
    ['end with enough of the team', [page(pulls(1, 30))], undefined],
    ['go on while one of the team is missing', [page([...pulls(1, 29), ...pulls(100, 21, true)])], 2],
    ['count one on two pages once', [page(pulls(1, 29)), page(pulls(29, 1))], 3],
    ['end with the last', [FORKS, page(pulls(1, 1), false)], undefined],
    ['go on behind a page of other branches', [page([])], 2],
    ['end after ten in one round, however many are of forks', forks(PAGES_PER_ROUND), undefined],
    ['are ten in one round at most', forks(PAGES_PER_ROUND - 1), 10],
  ])('%s', (_, pages, next) => {
    expect(nextPage({ pages, read: numbers(1, pages.length), after: 0 })).toBe(next);
  });

  it.each<
    [what: string, list: readonly [known: number, after: number, length: number], read: readonly number[]]
  >([
    ['all, if they are few', [10, 10, 10], numbers(1, 10)],
    ['the newest, and those behind the end of the round before', [10, 10, 40], [1, 2, ...numbers(11, 18)]],
    ['behind the last page again from the third', [20, 18, 20], [1, 2, 19, 20, ...numbers(3, 8)]],
    ['those of a list that has become shorter', [20, 10, 12], [1, 2, 11, 12, ...numbers(3, 8)]],
    ['only the first, when everything else was closed', [20, 10, 1], [1]],
    ['no more than a hundred', [100, 98, 200], [1, 2, 99, 100, ...numbers(3, 8)]],
  ])('are read in a round: %s', (_, [known, after, length], read) => {
    const pages = known === length ? [...forks(known - 1), page(FORKS.pulls, false)] : forks(known);
    expect(round({ pages, after }, length)).toEqual(read);
  });

  it('are all read after some rounds, however many there are', () => {
    const all = new Set<number>();
    for (let after = 0, count = 0; count < 13; count += 1) {
      const read = round({ pages: forks(Math.max(0, ...all)), after }, 200);
      expect(read.length).toBeLessThanOrEqual(PAGES_PER_ROUND);
      expect(read.slice(0, 2)).toEqual([1, 2]);
      for (const each of read) all.add(each);
      after = read.at(-1) ?? 0;
    }
    expect(all.size).toBe(MAX_LIST_PAGES);
  });

  it('have the 30 of the team that changed last, each once, in order', () => {
    const moved = { number: 3, head: 'older', isFork: false };
    const found = pullsOn([FORKS, page(pulls(1, 5)), page([moved, ...pulls(6, 40)])], false);
    expect(found.map(({ number }) => number)).toEqual(pulls(1, 30).map(({ number }) => number));
    expect(found.find(({ number }) => number === 3)?.head).toBe('h');
  });

  it('have those of the team before those of forks where these are planned, and no more than 30', () => {
    const found = pullsOn([FORKS, page(pulls(1, 5))], true);
    expect(found.map(({ number }) => number)).toEqual([...numbers(1, 5), ...numbers(100, 124)]);
  });
});
