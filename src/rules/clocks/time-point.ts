/** One moment on two clocks: durations are measured with the monotonic one, timestamps are compared with the other. */
import { parseTime } from '../../api/machine/node-state.ts';
import type { Clock } from '../../os/clock.ts';

export interface TimePoint {
  /** The time on the monotonic clock, in milliseconds. */
  readonly ms: number;
  /** The time by the clock of the API server, as far as it is known. */
  readonly at: Date;
}

export type ReadTime = () => TimePoint;

/**
 * Creates a reader of both clocks. `skewSeconds` is our wall clock minus that of the API server, so that a jump of our clock
 * does no harm; the last known value counts.
 */
export function createTimePoints(
  clock: Pick<Clock, 'now' | 'monotonicMs'>,
  skewSeconds: () => number | undefined = () => 0,
): ReadTime {
  let skew = 0;
  return () => {
    skew = skewSeconds() ?? skew;
    return { ms: clock.monotonicMs(), at: new Date(clock.now().getTime() - skew * 1000) };
  };
}

/**
 * Returns the age of a timestamp, undefined if it is not valid. The age is never negative: a timestamp in the future is one of a
 * clock that is ahead.
 */
export function ageMsAt({ at }: TimePoint, timestamp: string | undefined): number | undefined {
  const time = parseTime(timestamp);
  return time && Math.max(0, at.getTime() - time.getTime());
}

export function ageSecondsAt(point: TimePoint, timestamp: string | undefined): number | undefined {
  const ageMs = ageMsAt(point, timestamp);
  return ageMs === undefined ? undefined : ageMs / 1000;
}
