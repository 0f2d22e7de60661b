/**
 * Remembers what the git host refused, and when it is asked again. Every failure delays the next request to the host. One that is about
 * its commit delays this commit longer, so that the others are tried meanwhile.
 */
import {
  type BackoffLimits,
  type BackoffState,
  backOffAfterError,
  NO_ERRORS,
} from '../../kube/process/backoff.ts';
import type { Clock } from '../../os/clock.ts';
import type { CommitStatusReport } from '../commits.ts';
import type { SendFailure } from './outcome.ts';

export interface SendFailures {
  /** Records a failure. Returns how long the host is left alone. */
  failed(commit: string, failure: SendFailure): number;
  succeeded(commit: string): void;
  /** Notes that the host answered a question, which ends the failures of that question alone: it may refuse what is written all the same. */
  answered(question: string): void;
  hostWaitMs(): number;
  blockedForMs(): ReadonlyMap<string, number>;
  /** Forgets the failures of another address or token: this one is tried at once. */
  keepOnlyOf(target: string): void;
  /** Forgets the other commits. */
  keepOnly(commits: readonly string[]): void;
  report(): CommitStatusReport;
}

/** Five minutes: a host that was down for hours has all statuses soon after it returns. */
const LIMITS: BackoffLimits = { firstMs: 2000, longestMs: 300_000, stableMs: Number.POSITIVE_INFINITY };
/** Hosts fail for moments; a condition that changes with each of them would tell nothing. */
const REPORTED_AFTER = 3;

interface CommitFailure {
  readonly backoff: BackoffState;
  readonly failure: SendFailure;
}

export function createSendFailures({
  clock,
  random,
}: {
  readonly clock: Clock;
  readonly random: () => number;
}): SendFailures {
  let target = '';
  let host = NO_ERRORS;
  let lastFailure: SendFailure | undefined;
  let lastAbout: string | undefined;
  const commits = new Map<string, CommitFailure>();

  return {
    failed(commit, failure) {
      const { retryAfterSeconds } = failure;
      // The host has no part in a plan that fails.
      host = delayed(failure.reason === 'NotPlanned' ? NO_ERRORS : host, retryAfterSeconds);
      [lastFailure, lastAbout] = [failure, commit];
      // A pull request that cannot be planned now must not delay the others.
      if (!failure.isTemporary || failure.reason === 'NotPlanned') {
        const { backoff } = commits.get(commit) ?? { backoff: NO_ERRORS };
        commits.set(commit, { backoff: delayed(backoff, retryAfterSeconds), failure });
      }
      return host.delayMs;
    },
    succeeded,
    answered(question) {
      if (lastAbout === question) succeeded(question);
    },
    hostWaitMs: () => leftMs(host),
    blockedForMs: () => new Map([...commits].map(([commit, { backoff }]) => [commit, leftMs(backoff)])),
    keepOnlyOf(next) {
      if (next !== target) {
        [host, lastFailure] = [NO_ERRORS, undefined];
        commits.clear();
      }
      target = next;
    },
    keepOnly(kept) {
      const known = new Set(kept);
      for (const commit of commits.keys()) if (!known.has(commit)) commits.delete(commit);
      if (commits.size === 0 && lastFailure?.isTemporary === false) lastFailure = undefined;
    },
    report: () =>
      reportOf(
        lastFailure,
        Math.max(host.errors, ...[...commits.values()].map(({ backoff }) => backoff.errors)),
        [...commits.values()].map(({ failure }) => failure),
      ),
  };

  function succeeded(commit: string): void {
    host = NO_ERRORS;
    lastFailure = undefined;
    commits.delete(commit);
  }

  function delayed(before: BackoffState, retryAfterSeconds: number | undefined): BackoffState {
    return backOffAfterError(
      before,
      { atMs: clock.monotonicMs(), random: random(), retryAfterSeconds },
      LIMITS,
    );
  }

  function leftMs({ atMs, delayMs }: BackoffState): number {
    return Math.max(0, atMs + delayMs - clock.monotonicMs());
  }
}

function reportOf(
  last: SendFailure | undefined,
  errors: number,
  commits: readonly SendFailure[],
): CommitStatusReport {
  const failure = last ?? commits[0];
  if (!failure) return {};
  const { reason, message, isTemporary } = failure;
  if (!isTemporary) return { problem: { status: 'False', reason, message } };
  return errors < REPORTED_AFTER ? {} : { problem: { status: 'Unknown', reason, message } };
}
