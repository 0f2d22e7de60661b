/** Observations of a span of time, counted. Pure: ages are given, there is no clock. */

import { type Reading, UNKNOWN_READING } from '../compiled-rule.ts';
import type { Entry, Params } from './fact.ts';

export interface Window {
  readonly inside: readonly Entry[];
  readonly reading: Reading;
}

/**
 * Undefined when the source does not reach back over the whole window: a count of a part would look like a small
 * count of all. With nothing inside, the count is 0 and the age of the last one is unknown, as there is none.
 */
export function windowOf(
  entries: readonly Entry[],
  { windowSeconds }: Params,
  reachSeconds: number,
): Window | undefined {
  const window = Number(windowSeconds);
  if (!(reachSeconds >= window)) return undefined;
  const inside = entries.filter((entry) => ageOf(entry) <= window).toSorted((a, b) => ageOf(a) - ageOf(b));
  const [newest] = inside;
  const last = newest ? { lastAgeSeconds: ageOf(newest) } : UNKNOWN_READING;
  return { inside, reading: { count: inside.length, ...last } };
}

function ageOf(entry: Entry): number {
  return Number(entry['ageSeconds']);
}
