/**
 * Plans which pages of the list of open pull requests are read, and which pull requests on them are planned: those of the team before those
 * of forks, however many forks changed later. Pure.
 */
import { MAX_PULLS, type PullRequest } from './hosts/adapter.ts';

export interface PullPage {
  readonly pulls: readonly PullRequest[];
  /** With it, the host answers the page only if it has changed. */
  readonly etag?: string;
  /** Whether the host has a page after this one. */
  readonly hasNext: boolean;
}

/** The pages that are known while they are read once more. */
export interface PageRound {
  /** The pages from the first on. Those that were not read in this round may be outdated. */
  readonly pages: readonly PullPage[];
  /** The numbers of the pages that were read in this round. */
  readonly read: readonly number[];
  /** The number of the page at which the round before ended. */
  readonly after: number;
}

/** The list is read twice a minute: more requests would use up the limit of GitHub. */
export const PAGES_PER_ROUND = 10;
/** A push moves a pull request to the first page. The second is for those that move down while the first one is read. */
const NEWEST_PAGES = 2;
/**
 * Everybody who may read a public repository can open pull requests. 5,000 of them take a round of the newest pages and twelve others, six
 * minutes, until each page was read.
 */
export const MAX_LIST_PAGES = 100;

/** Returns the number of the page to read next, counted from 1. Undefined: the round has read all that count, or enough for now. */
export function nextPage({ pages, read, after }: PageRound): number | undefined {
  if (read.length >= PAGES_PER_ROUND) return undefined;
  const numbers = Array.from(
    { length: Math.min(lastPage(pages) ?? pages.length + 1, MAX_LIST_PAGES) },
    (_, index) => index + 1,
  );
  // The newest, then those behind the end of the round before, then those that it has read.
  const order = [
    ...numbers.filter((number) => number <= NEWEST_PAGES),
    ...numbers.filter((number) => number > Math.max(after, NEWEST_PAGES)),
    ...numbers.filter((number) => number > NEWEST_PAGES && number <= after),
  ];
  return order.find((number) => !read.includes(number));
}

/** Returns the pages that count, from the first on: what is behind them is of no use. */
export function countedPages(pages: readonly PullPage[]): readonly PullPage[] {
  return pages.slice(0, lastPage(pages));
}

/** Returns the number of the last page that counts. Undefined: the list goes on behind those that are known. */
function lastPage(pages: readonly PullPage[]): number | undefined {
  const team = new Set<number>();
  const index = pages.findIndex(({ pulls, hasNext }) => {
    for (const { number, isFork } of pulls) if (!isFork) team.add(number);
    return !hasNext || team.size >= MAX_PULLS;
  });
  return index < 0 ? undefined : index + 1;
}

/**
 * Returns the pull requests that may be planned: those of the team, then those of forks, each with those that changed last first. One that
 * changes while the pages are read may be on two of them: the first counts.
 */
export function pullsOn(pages: readonly PullPage[], forks: boolean): readonly PullRequest[] {
  const byNumber = new Map<number, PullRequest>();
  for (const pull of pages.flatMap(({ pulls }) => pulls)) {
    if ((forks || !pull.isFork) && !byNumber.has(pull.number)) byNumber.set(pull.number, pull);
  }
  const found = [...byNumber.values()];
  return [...found.filter(({ isFork }) => !isFork), ...found.filter(({ isFork }) => isFork)].slice(
    0,
    MAX_PULLS,
  );
}
