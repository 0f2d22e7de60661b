/** Measures the delay of the event loop, which also delays renewals of Leases and answers to probes. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

export interface LoopDelay {
  /** Since the last read, in seconds. */
  read(): { readonly p50: number; readonly p99: number; readonly max: number };
  stop(): void;
}

// The timer is native and runs no JavaScript: ten ticks a second have no measurable cost. Shorter stalls are only
// detected at random, and do not endanger a Lease.
const RESOLUTION_MS = 100;
const NANOSECONDS = 1e9;

export function createLoopDelay(resolutionMs: number = RESOLUTION_MS): LoopDelay {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  histogram.enable();
  // The histogram records the time between ticks, so that a loop without delay shows the resolution.
  const delaySeconds = (nanoseconds: number): number =>
    Math.max(0, nanoseconds / NANOSECONDS - resolutionMs / 1000);
  return {
    read: () => {
      const { max } = histogram;
      const delay = {
        p50: delaySeconds(histogram.percentile(50)),
        p99: delaySeconds(histogram.percentile(99)),
        max: delaySeconds(max),
      };
      histogram.reset();
      return delay;
    },
    stop: () => {
      histogram.disable();
    },
  };
}
