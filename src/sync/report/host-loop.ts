/**
 * Tells a git host about a Pipeline, step by step, while this process holds the Lease of the Pipeline. Nothing else of sync waits for the
 * host.
 */
import type { Pipeline } from '../../api/generated/types.ts';
import { createLoop } from '../../kube/controller/loop.ts';
import type { HeldLease } from '../../kube/leader/held-lease.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import type { CommitStatusReport } from '../commits.ts';
import { gitHostProblem } from './problem.ts';

export interface HostLoopOptions {
  /** Returns the Pipeline as the hub has it. */
  readonly pipeline: () => Pipeline | undefined;
  readonly lease: Pick<HeldLease, 'notHeldReason'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Is called when the report has changed. */
  readonly onChange: () => void;
}

export interface HostLoopWork {
  /** Sends one thing at most, and resolves with how long to wait for the next step. Rejects when the hub does not take the record. */
  readonly step: (pipeline: Pipeline) => Promise<number>;
  /** Forgets what the hub has not recorded yet. */
  readonly forgetUnrecorded: () => void;
  /** Names what is sent, for the log: `commit statuses`. */
  readonly what: string;
}

export interface HostLoop {
  readonly signal: AbortSignal;
  /** Runs a step soon. Returns at once. */
  requeue(): void;
  report(): CommitStatusReport | undefined;
  setReport(next: CommitStatusReport | undefined): void;
  close(): Promise<void>;
}

const GATHER_MS = 500;
/** The Pipeline is reconciled as often: a Lease that was lost and acquired again triggers nothing. */
export const IDLE_MS = 15_000;
const RETRY_RECORD_MS = 5000;

export function createHostLoop(options: HostLoopOptions, work: HostLoopWork): HostLoop {
  const { clock, log, onChange } = options;
  const closing = new AbortController();
  let report: CommitStatusReport | undefined;
  const loop = createLoop({ clock, gatherMs: GATHER_MS, round });

  return {
    signal: closing.signal,
    requeue: () => loop.trigger(),
    report: () => report,
    setReport,
    async close() {
      closing.abort(new Error('the repository was closed'));
      await loop.close();
    },
  };

  async function round(): Promise<number> {
    const pipeline = options.pipeline();
    if (!pipeline || options.lease.notHeldReason() !== undefined) {
      // Another process may send and record meanwhile: what it recorded counts when this one continues.
      work.forgetUnrecorded();
      return IDLE_MS;
    }
    try {
      return await work.step(pipeline);
    } catch (error) {
      if (closing.signal.aborted) return IDLE_MS;
      const problem = gitHostProblem(error);
      if (problem) {
        setReport({ problem });
        return IDLE_MS;
      }
      log.warn('sent to the git host, but not recorded', {
        pipeline: pipeline.metadata.name,
        what: work.what,
        error,
      });
      return RETRY_RECORD_MS;
    }
  }

  function setReport(next: CommitStatusReport | undefined): void {
    if (JSON.stringify(next) === JSON.stringify(report)) return;
    report = next;
    onChange();
  }
}
