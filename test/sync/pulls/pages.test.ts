import { describe, expect, it } from 'vitest';
import type { PullRequest } from '../../../src/sync/pulls/hosts/adapter.ts';
import { MAX_LIST_PAGES, nextPage, type PullPage, pullsOn } from '../../../src/sync/pulls/pages.ts';

/** Pull requests of the team, or of forks, with these numbers. */
function pulls(from: number, count: number, isFork = false): PullRequest[] {
  return Array.from({ length: count }, (_, index) => ({ number: from + index, head: 'h', isFork }));
}

const page = (own: readonly PullRequest[], hasNext = true): PullPage => ({ pulls: own, hasNext });
const FORKS = page(pulls(100, 50, true));

describe('S22 the pages of open pull requests', () => {
  it.each<[what: string, pages: readonly PullPage[], forks: boolean, next: number | undefined]>([
    ['begin with the first', [], false, 1],
    ['go on behind those of forks', [FORKS], false, 2],
    ['end with enough of the team', [page(pulls(1, 30))], false, undefined],
    ['go on while one of the team is missing', [page([...pulls(1, 29), ...pulls(100, 21, true)])], false, 2],
    ['count one on two pages once', [page(pulls(1, 29)), page(pulls(29, 1))], false, 3],
    ['end with forks where these are planned', [FORKS], true, undefined],
    ['end with the last', [FORKS, page(pulls(1, 1), false)], false, undefined],
    ['go on behind a page of other branches', [page([])], false, 2],
    [
      'end after ten, however many are of forks',
      Array<PullPage>(MAX_LIST_PAGES).fill(FORKS),
      false,
      undefined,
    ],
    ['are ten at most', Array<PullPage>(MAX_LIST_PAGES - 1).fill(FORKS), false, 10],
  ])('%s', (_, pages, forks, next) => {
    expect(nextPage(pages, forks)).toBe(next);
  });

  it('have the 30 of the team that changed last, each once, in order', () => {
    const moved = { number: 3, head: 'older', isFork: false };
    const found = pullsOn([FORKS, page(pulls(1, 5)), page([moved, ...pulls(6, 40)])], false);
    expect(found.map(({ number }) => number)).toEqual(pulls(1, 30).map(({ number }) => number));
    expect(found.find(({ number }) => number === 3)?.head).toBe('h');
  });

  it('have those of forks where these are planned, and no more than 30', () => {
    const found = pullsOn([FORKS, page(pulls(1, 5))], true);
    expect([found.length, found.every(({ isFork }) => isFork)]).toEqual([30, true]);
  });
});
