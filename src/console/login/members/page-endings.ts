/**
 * Remembers which clusters ended the pages of which credentials, also after the fleet of these credentials has ended: a cluster that fails
 * again and again must not end the pages each time.
 */
import type { Clock } from '../../../os/clock.ts';

export interface PageEndings {
  /** Returns after which time the cluster may end pages. */
  waitMs(cluster: string): number;
  /** Adds that the cluster ends pages now. */
  add(cluster: string): void;
}

/** A right that is taken away twice in this time counts for the lines of the last hour at its end. The rows are hidden at once. */
export const QUIET_MS = 5 * 60_000;

/** Returns the endings of the credentials with this key. */
export function createPageEndings(
  clock: Pick<Clock, 'monotonicMs'>,
): (credentialsKey: string) => PageEndings {
  const endedMs = new Map<string, number>();

  return (credentialsKey) => {
    const keyOf = (cluster: string): string => JSON.stringify([credentialsKey, cluster]);
    return {
      waitMs: (cluster) => remainingMs(endedMs.get(keyOf(cluster))),
      add(cluster) {
        for (const [key, ms] of endedMs) if (remainingMs(ms) === 0) endedMs.delete(key);
        endedMs.set(keyOf(cluster), clock.monotonicMs());
      },
    };
  };

  function remainingMs(ms = Number.NEGATIVE_INFINITY): number {
    return Math.max(0, ms + QUIET_MS - clock.monotonicMs());
  }
}
