/**
 * Plans which pages of the list of open pull requests are read: until there are enough that may be planned, however many others changed
 * later. Pure.
 */
import { MAX_PULLS, type PullRequest } from './hosts/adapter.ts';

export interface PullPage {
  readonly pulls: readonly PullRequest[];
  /** With it, the host answers the page only if it has changed. */
  readonly etag?: string;
  /** Whether the host has a page after this one. */
  readonly hasNext: boolean;
}

/** Everybody who may read a public repository can open pull requests. The list is read twice a minute, page by page. */
export const MAX_LIST_PAGES = 10;

/** Returns the number of the page to read next, counted from 1. Undefined: those that are read are enough, or all. */
export function nextPage(pages: readonly PullPage[], forks: boolean): number | undefined {
  const isLast = pages.at(-1)?.hasNext === false;
  if (isLast || pages.length >= MAX_LIST_PAGES || pullsOn(pages, forks).length >= MAX_PULLS) return undefined;
  return pages.length + 1;
}

/**
 * Returns the pull requests that may be planned, those that changed last first. One that changes while the pages are read may be on two of
 * them: the first counts.
 */
export function pullsOn(pages: readonly PullPage[], forks: boolean): readonly PullRequest[] {
  const byNumber = new Map<number, PullRequest>();
  for (const pull of pages.flatMap(({ pulls }) => pulls)) {
    if ((forks || !pull.isFork) && !byNumber.has(pull.number)) byNumber.set(pull.number, pull);
  }
  return [...byNumber.values()].slice(0, MAX_PULLS);
}
