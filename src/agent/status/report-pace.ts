/** Keeps the time of reports: one that may wait for a later one is due with it, and at the latest when its time is over. */
import type { MachineStatus } from '../../api/generated/types.ts';
import type { Clock } from '../../os/clock.ts';
import { reportDelayMs } from './report-delay.ts';

export interface ReportPace {
  /** Tells whether a report is to be written now. `hasGrants`: the entries that it is about have grants. */
  isDue(next: Partial<MachineStatus>, hasGrants: boolean): boolean;
  /** Remembers what the API server has. */
  wrote(status: Partial<MachineStatus>): void;
  /** Returns when a report that waits is due, by the monotonic clock; undefined while none waits. */
  nextMs(): number | undefined;
}

interface Delayed {
  readonly delayMs: number;
  readonly sinceMs: number;
}

export function createReportPace(clock: Pick<Clock, 'monotonicMs'>): ReportPace {
  let written: Partial<MachineStatus> | undefined;
  let delayed: Delayed | undefined;
  return {
    isDue(next, hasGrants) {
      const delayMs = reportDelayMs(written, next, hasGrants);
      const nowMs = clock.monotonicMs();
      if (delayMs === undefined) delayed = undefined;
      else if (delayed?.delayMs !== delayMs) delayed = { delayMs, sinceMs: nowMs };
      return delayed !== undefined && nowMs - delayed.sinceMs >= delayed.delayMs;
    },
    wrote(status) {
      written = status;
      delayed = undefined;
    },
    nextMs: () => delayed && delayed.sinceMs + delayed.delayMs,
  };
}
