/** One moment on two clocks: durations are measured with the monotonic one, timestamps are compared with the other. */
import { parseTime } from '../../../api/machine/node-state.ts';
import type { Clock } from '../../../os/clock.ts';

export interface TimePoint {
  /** Of the monotonic clock. */
  readonly ms: number;
  /** By the clock of the API server, as far as it is known. */
  readonly at: Date;
}

export type ReadTime = () => TimePoint;

/** `skewSeconds`: our wall clock minus that of the API server, so that a jump of it does no harm. The last known one counts. */
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

/** Never negative: a timestamp in the future is one of a clock that is ahead. Undefined without a valid timestamp. */
export function ageMsAt({ at }: TimePoint, timestamp: string | undefined): number | undefined {
  const time = parseTime(timestamp);
  return time && Math.max(0, at.getTime() - time.getTime());
}

export function ageSecondsAt(point: TimePoint, timestamp: string | undefined): number | undefined {
  const ageMs = ageMsAt(point, timestamp);
  return ageMs === undefined ? undefined : ageMs / 1000;
}
