/** How often each policy denied in the last day, by reason; in mode Audit, what it would have denied. Kept in memory only. */
import type { DenialCause } from '../../api/grants.ts';
import { FLEET_DEFAULT } from '../../api/names.ts';
import type { Clock } from '../../os/clock.ts';

export interface DenialCounts {
  add(causes: readonly DenialCause[]): void;
  /** Sorted by reason. */
  of(policy: string): Readonly<Record<string, number>>;
}

interface Hour {
  readonly startMs: number;
  readonly byPolicy: Map<string, Map<string, number>>;
}

const HOUR_MS = 3_600_000;
const HOURS = 24;

export function createDenialCounts(clock: Pick<Clock, 'monotonicMs'>): DenialCounts {
  let hours: Hour[] = [];
  return {
    add: (causes) => {
      const { byPolicy } = currentHour();
      // What no policy decides is required of every ask, as fleet-default is.
      for (const { policy = FLEET_DEFAULT, reason } of causes) {
        const counts = byPolicy.get(policy) ?? new Map<string, number>();
        counts.set(reason, (counts.get(reason) ?? 0) + 1);
        byPolicy.set(policy, counts);
      }
    },
    of: (policy) => {
      const sums = new Map<string, number>();
      for (const { byPolicy } of recentHours()) {
        for (const [reason, count] of byPolicy.get(policy) ?? []) {
          sums.set(reason, (sums.get(reason) ?? 0) + count);
        }
      }
      return Object.fromEntries([...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)));
    },
  };

  function currentHour(): Hour {
    const nowMs = clock.monotonicMs();
    const last = hours.at(-1);
    if (last && nowMs - last.startMs < HOUR_MS) return last;
    const hour = { startMs: nowMs, byPolicy: new Map<string, Map<string, number>>() };
    hours = [...recentHours(), hour];
    return hour;
  }

  function recentHours(): Hour[] {
    const oldest = clock.monotonicMs() - HOURS * HOUR_MS;
    return hours.filter(({ startMs }) => startMs > oldest);
  }
}
