/** Derives from the answers of the API server how reliable our own view is: how many requests fail, and how far the clocks differ. */
import type { CallReport } from '../../kube/client/request.ts';
import type { Clock } from '../../os/clock.ts';

export interface CallWindow {
  /** Counts one call; it is passed as `onCall` to every client of this process. */
  add(report: CallReport): void;
  /** Returns the share of failed requests of the last minute; undefined when there were no requests at all. */
  errorPercent(): number | undefined;
  /**
   * Returns our wall clock minus that of the API server; undefined before the first answer, and when the last one is older than
   * a minute.
   */
  skewSeconds(): number | undefined;
  /** Returns the largest difference of the last minute: a clock that jumped is trusted again when it agreed for so long. */
  worstSkewSeconds(): number | undefined;
}

interface Bucket {
  readonly startMs: number;
  calls: number;
  failed: number;
  /** The largest difference of the clocks, in either direction. */
  skewSeconds: number;
}

const WINDOW_MS = 60_000;
const BUCKET_MS = 5000;
/** The codes of failures that the server did not cause: we cut these requests off. */
const OURS: ReadonlySet<string> = new Set(['Aborted']);

export function createCallWindow(clock: Pick<Clock, 'now' | 'monotonicMs'>): CallWindow {
  let buckets: Bucket[] = [];
  let skew: { readonly seconds: number; readonly atMs: number } | undefined;

  return {
    add: ({ code, serverTime }) => {
      if (OURS.has(code)) return;
      const bucket = currentBucket();
      bucket.calls += 1;
      if (isFailure(code)) bucket.failed += 1;
      if (!serverTime) return;
      skew = { seconds: skewOf(serverTime), atMs: clock.monotonicMs() };
      bucket.skewSeconds = larger(bucket.skewSeconds, skew.seconds);
    },
    errorPercent: () => {
      const recent = recentBuckets();
      const calls = recent.reduce((sum, bucket) => sum + bucket.calls, 0);
      const failed = recent.reduce((sum, bucket) => sum + bucket.failed, 0);
      return calls === 0 ? undefined : Math.round((failed * 100) / calls);
    },
    skewSeconds,
    worstSkewSeconds: () => {
      const present = skewSeconds();
      if (present === undefined) return undefined;
      return recentBuckets().reduce((worst, bucket) => larger(worst, bucket.skewSeconds), present);
    },
  };

  function skewSeconds(): number | undefined {
    return skew && clock.monotonicMs() - skew.atMs <= WINDOW_MS ? skew.seconds : undefined;
  }

  /** Returns the difference of the clocks. The header has whole seconds, so a difference below one second is not measurable. */
  function skewOf(serverTime: Date): number {
    const seconds = (+clock.now() - +serverTime) / 1000;
    return seconds >= 0 && seconds < 1 ? 0 : Math.round(seconds);
  }

  function currentBucket(): Bucket {
    const nowMs = clock.monotonicMs();
    const last = buckets.at(-1);
    if (last && nowMs - last.startMs < BUCKET_MS) return last;
    const bucket = { startMs: nowMs, calls: 0, failed: 0, skewSeconds: 0 };
    buckets = [...recentBuckets(), bucket];
    return bucket;
  }

  function recentBuckets(): Bucket[] {
    const oldest = clock.monotonicMs() - WINDOW_MS;
    return buckets.filter(({ startMs }) => startMs > oldest);
  }
}

function larger(a: number, b: number): number {
  return Math.abs(b) > Math.abs(a) ? b : a;
}

/** Tells whether the server failed, or refused because of its load, or did not answer at all. */
function isFailure(code: string): boolean {
  const status = Number(code);
  return Number.isNaN(status) || status >= 500 || status === 429;
}
