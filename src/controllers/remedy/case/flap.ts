/** Decides whether a fault comes and goes so often that repairs do not help against it. Pure. */
import type { NodeRemedier, RemedyOperationJob } from '../../../api/generated/types.ts';
import type { RemedyWait } from '../../../api/status/rule-waits.ts';
import { secondsAfter } from '../../../os/dates.ts';
import { beginOf, endOf, hasCleared } from './jobs.ts';

/** The changes that are kept for each fault: one more than any rule permits, so that the excess is always found. */
export const MAX_CHANGES = 101;

export interface Flap {
  /** The field `then` of the rule. */
  readonly next: NodeRemedier['spec']['rule']['flap']['then'];
  readonly message: string;
  /** When the fault is not flapping any more, if it does not change again. */
  readonly until: Date;
}

/** Returns how the fault flaps; undefined: it changed at most as often as its rule permits. `changes` are sorted by time. */
export function flapOf(
  { spec: { rule } }: Pick<NodeRemedier, 'spec'>,
  changes: readonly Date[],
  now: Date,
): Flap | undefined {
  const { windowSeconds, maxTransitions, then } = rule.flap; // oxlint-disable-line unicorn/no-thenable -- name of the API field
  const recent = changes.filter((at) => secondsAfter(at, windowSeconds) > now);
  // The oldest one without which there would be few enough.
  const excess = recent.at(-1 - maxTransitions);
  if (!excess) return undefined;
  const count = recent.length < MAX_CHANGES ? String(recent.length) : `at least ${MAX_CHANGES}`;
  const message = `the fault came or went ${count} times in ${windowSeconds} s, at most ${maxTransitions} are allowed`;
  return { next: then, message, until: secondsAfter(excess, windowSeconds) };
}

/**
 * Returns the changes that the jobs of a rule show on a Node whose fault is there now; the oldest one first. They outlive the process that
 * observed the changes, so that another leader does not repair as often again.
 */
export function changesByJobs(jobs: readonly RemedyOperationJob[], now: Date): readonly Date[] {
  const observed = [...jobs.flatMap(observationsBy), { at: now, isFaulty: true }];
  return observed
    .toSorted((a, b) => +a.at - +b.at)
    .filter(({ isFaulty }, index, all) => isFaulty !== (all[index - 1]?.isFaulty ?? false))
    .map(({ at }) => at);
}

function observationsBy(
  job: RemedyOperationJob,
): readonly { readonly at: Date; readonly isFaulty: boolean }[] {
  const cleared = hasCleared(job) ? [{ at: endOf(job), isFaulty: false }] : [];
  return [{ at: beginOf(job), isFaulty: true }, ...cleared];
}

export function flapWait({ message, until }: Flap): RemedyWait {
  return { reason: 'Flapping', message, until };
}
