/** Counts observations within a time window. Pure: observations have ages, so no clock is needed. */
import { type Reading, UNKNOWN_READING } from '../../compiled-rule.ts';
import type { FactParams, Observation } from '../field.ts';

export interface ObservationWindow {
  readonly inside: readonly Observation[];
  readonly reading: Reading;
}

/**
 * Undefined if the source does not cover the whole window, because the count of a part would look like a small count.
 * Without observations in the window, the count is 0 and the age of the last one is unknown.
 */
export function countInWindow(
  entries: readonly Observation[],
  { windowSeconds }: FactParams,
  reachSeconds: number,
): ObservationWindow | undefined {
  const window = Number(windowSeconds);
  if (!(reachSeconds >= window)) return undefined;
  const inside = entries.filter((entry) => ageOf(entry) <= window).toSorted((a, b) => ageOf(a) - ageOf(b));
  const [newest] = inside;
  const last = newest ? { lastAgeSeconds: ageOf(newest) } : UNKNOWN_READING;
  return { inside, reading: { count: inside.length, ...last } };
}

function ageOf(entry: Observation): number {
  return Number(entry['ageSeconds']);
}
