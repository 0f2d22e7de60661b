/** Ends grants by the wall clock and by the time since they were received, whichever comes first. */
import type { Clock } from '../../os/clock.ts';

export interface GrantClock {
  readonly isExpired: (grant: {
    readonly id: string;
    readonly fence: number;
    readonly notAfter: string;
  }) => boolean;
}

/** A machine has at most so many entries, with those that they replaced. */
const MAX_GRANTS = 128;

/** `maxMs`: a permission that claims to last longer ends after that time. */
export function createGrantClock(clock: Clock, maxMs = Number.POSITIVE_INFINITY): GrantClock {
  const deadlines = new Map<string, number>();
  return {
    isExpired({ id, fence, notAfter }) {
      const leftMs = Date.parse(notAfter) - clock.now().getTime();
      const key = `${id} ${fence} ${notAfter}`;
      const deadlineMs = deadlines.get(key) ?? clock.monotonicMs() + Math.min(leftMs, maxMs);
      if (deadlines.size >= MAX_GRANTS) deadlines.clear();
      deadlines.set(key, deadlineMs);
      // An end that cannot be read has passed.
      return !(leftMs > 0 && clock.monotonicMs() < deadlineMs);
    },
  };
}
