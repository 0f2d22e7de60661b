/** Merges two versions of closed times into the stricter one, so that a commit cannot loosen what it is judged by. Pure. */
import type { Freeze } from '../api/generated/types.ts';
import type { ClosedTimes } from './maintenance-windows.ts';

/** The bound of the schema. What is in force comes first, so it is never what is cut. */
const MAX_FREEZES = 32;

/** Merges the closed times. Which of two lists of windows is stricter depends on the moment: then those in force count. */
export function strictestTimes(before: ClosedTimes, now: ClosedTimes): ClosedTimes {
  return {
    windows: before.windows.length > 0 ? before.windows : now.windows,
    freezes: strictestFreezes(before.freezes, now.freezes),
  };
}

/** Returns the times by which a set is judged: those of its spec, and those that its status has in force. */
export function judgingTimes(
  { windows, freezes }: ClosedTimes,
  inForce: ClosedTimes | undefined,
): ClosedTimes {
  return inForce ? strictestTimes(inForce, { windows, freezes }) : { windows, freezes };
}

/** Merges the freezes. One that was changed under its name lasts as long as both of its versions. */
export function strictestFreezes(
  before: readonly Freeze[] = [],
  now: readonly Freeze[] = [],
): readonly Freeze[] {
  const kept = before.map((freeze) => {
    const other = now.find(({ name }) => name === freeze.name) ?? freeze;
    return { ...freeze, from: earlier(freeze.from, other.from), until: later(freeze.until, other.until) };
  });
  const added = now.filter(({ name }) => before.every((freeze) => freeze.name !== name));
  return [...kept, ...added].slice(0, MAX_FREEZES);
}

function earlier(one: string, other: string): string {
  return Date.parse(one) <= Date.parse(other) ? one : other;
}

function later(one: string, other: string): string {
  return Date.parse(one) >= Date.parse(other) ? one : other;
}
