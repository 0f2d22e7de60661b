/** Merges two versions of closed times into the stricter one, so that a commit cannot loosen what it is judged by. Pure. */
import type { Freeze, Window } from '../api/generated/types.ts';
import type { Limit } from './limit.ts';
import { type ClosedTimes, closedLimit } from './maintenance-windows.ts';

/** The bound of the schema. What is in force comes first, so it is never what is cut. */
const MAX_FREEZES = 32;

export function strictestTimes(before: ClosedTimes, now: ClosedTimes): ClosedTimes {
  return {
    windows: strictestWindows(before.windows, now.windows),
    freezes: strictestFreezes(before.freezes, now.freezes),
  };
}

/** Returns why an object begins nothing by its spec and by what its status has in force, and until when. `what` names it. */
export function judgedLimit(
  declared: ClosedTimes,
  inForce: ClosedTimes | undefined,
  now: Date,
  what: string,
): Limit | undefined {
  const limit = closedLimit(judgingTimes(declared, inForce), now);
  if (!limit || closedLimit(declared, now)) return limit;
  return { ...limit, because: `${limit.because} (in force before the last change of the ${what})` };
}

/** Returns the times by which an object is judged: those of its spec, and those that its status has in force. */
export function judgingTimes(
  { windows, freezes }: ClosedTimes,
  inForce: ClosedTimes | undefined,
): ClosedTimes {
  return inForce ? strictestTimes(inForce, { windows, freezes }) : { windows, freezes };
}

/** Which of two lists is stricter depends on the moment: then those in force count. Without windows everything was open. */
export function strictestWindows(before: readonly Window[], now: readonly Window[]): readonly Window[] {
  return before.length > 0 ? before : now;
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
