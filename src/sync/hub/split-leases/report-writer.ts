/** Writes the reports of clusters, one write at a time for each, and repeats those that fail. */
import { isDeepStrictEqual } from 'node:util';
import type { ClusterApplyReport } from '../../../api/generated/types.ts';
import { backOffAfterError, NO_ERRORS } from '../../../kube/process/backoff.ts';
import type { Log } from '../../../kube/process/log.ts';
import type { Clock } from '../../../os/clock.ts';

export interface DueReport {
  /** The report to record. Undefined if the recorded one has to be removed. */
  readonly report: ClusterApplyReport | undefined;
}

export interface ReportWriterOptions {
  /** Returns what has to be written for a cluster now. Undefined if the hub has it, or this process may not write it. */
  readonly due: (cluster: string) => DueReport | undefined;
  readonly write: (cluster: string, report: ClusterApplyReport | undefined) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
}

export interface ReportWriter {
  /** Starts to write the report and returns at once. What changes during a write is written after it. */
  write(cluster: string): void;
  /** Resolves after the last write. */
  close(): Promise<void>;
}

/** Promotion waits for the report, so a hub that is back gets it within 20 s. */
const RETRY = { firstMs: 500, longestMs: 20_000, stableMs: 60_000 };

export function createReportWriter({ due, clock, log, ...options }: ReportWriterOptions): ReportWriter {
  const closing = new AbortController();
  const writing = new Map<string, Promise<void>>();
  return {
    write(cluster) {
      if (writing.has(cluster) || !nextDue(cluster)) return;
      const written = writeUntilCurrent(cluster).finally(() => writing.delete(cluster));
      writing.set(cluster, written);
    },
    async close() {
      closing.abort();
      await Promise.all(writing.values());
    },
  };

  function nextDue(cluster: string): DueReport | undefined {
    return closing.signal.aborted ? undefined : due(cluster);
  }

  /** Writes until the hub has the current report. A report is written once, even if the hub returns it differently. */
  async function writeUntilCurrent(cluster: string): Promise<void> {
    let written: DueReport | undefined;
    let retry = NO_ERRORS;
    for (let next = nextDue(cluster); next && !isDeepStrictEqual(next, written); next = nextDue(cluster)) {
      try {
        await options.write(cluster, next.report);
        written = next;
      } catch (error) {
        log.warn('report not written', { cluster, error });
        retry = backOffAfterError(retry, { atMs: clock.monotonicMs(), random: options.random() }, RETRY);
        await clock.sleep(retry.delayMs, closing.signal).catch(() => undefined);
      }
    }
  }
}
