/** How late the event loop runs: what is late here is late in renewing a Lease and in answering a probe. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

export interface LoopDelay {
  /** Since the last time that somebody asked, in seconds. */
  read(): { readonly p50: number; readonly p99: number; readonly max: number };
  stop(): void;
}

// The timer is native and runs no JavaScript. Ten a second cost nothing that we could measure; a stall that is
// shorter than this is seen by chance only, and harms no Lease.
const RESOLUTION_MS = 100;
const NANOSECONDS = 1e9;

export function createLoopDelay(resolutionMs: number = RESOLUTION_MS): LoopDelay {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  histogram.enable();
  // What is recorded is the time from one tick to the next, so that a loop without any delay shows the resolution.
  const late = (nanoseconds: number): number => Math.max(0, nanoseconds / NANOSECONDS - resolutionMs / 1000);
  return {
    read: () => {
      const { max } = histogram;
      const delay = {
        p50: late(histogram.percentile(50)),
        p99: late(histogram.percentile(99)),
        max: late(max),
      };
      histogram.reset();
      return delay;
    },
    stop: () => {
      histogram.disable();
    },
  };
}
