/**
 * Keeps one cluster at its target: reconciles when the target or the cluster changes, and retries with growing delays
 * while something fails. A new target ends the reconcile of the old one between two requests. The worker may lose its
 * memory at any time: the inventory in the cluster and git hold all that it needs.
 */
import { isDeepStrictEqual } from 'node:util';
import { isKubeError } from '../../kube/client/errors.ts';
import { createLoop } from '../../kube/controller/loop.ts';
import { backOffAfterError, NO_ERRORS } from '../../kube/process/backoff.ts';
import type { ClusterReport, ClusterTarget } from '../cluster-report.ts';
import { type ClusterAssignment } from '../cluster-report.ts';
import { type ApplyPolicy, type ClusterSyncerOptions, createClusterSyncer } from './cluster-syncer.ts';

export interface ClusterWorkerOptions extends Omit<ClusterSyncerOptions, 'onChange'> {
  /** The report has changed. */
  readonly onReport: () => void;
}

export interface ClusterWorker {
  /** Also called when the policy of the Pipeline may have changed. */
  setTarget(assignment: ClusterAssignment): void;
  report(): ClusterReport;
  /** The Lease was acquired or lost: reconciles soon. */
  leaseChanged(): void;
  /** The credentials have changed. */
  reconnect(): void;
  close(): Promise<void>;
}

const GATHER_MS = 200;
/** The longest time between two contacts with the cluster. */
const CONTACT_MS = 15_000;
/** An object that the server rejects, or that depends on others, is retried with growing delays. */
const OBJECT_RETRY = { firstMs: 500, longestMs: 300_000, stableMs: 600_000 };
/** One request finds out whether a server is back, so an outage is probed at least every 20 s. */
const FAILURE_RETRY = { firstMs: 500, longestMs: 20_000, stableMs: 60_000 };

export function createClusterWorker(options: ClusterWorkerOptions): ClusterWorker {
  const { clock } = options;
  const closing = new AbortController();
  const syncer = createClusterSyncer({ ...options, onChange: () => loop.trigger() });
  let current = new AbortController();
  let assignment: ClusterAssignment | undefined;
  let policy: ApplyPolicy | undefined;
  let objectRetry = NO_ERRORS;
  let failureRetry = NO_ERRORS;
  const loop = createLoop({ clock, gatherMs: GATHER_MS, round: reconcile });

  return {
    setTarget(next) {
      const before = { assignment, policy };
      assignment = next;
      policy = options.policy(next.pipeline);
      if (!before.assignment || hasChanged(before.assignment, next)) restart('the target changed');
      // A person who acknowledges held deletes is waiting for them.
      else if (!isDeepStrictEqual(before.policy, policy)) loop.trigger();
      else if (before.assignment.observeAt?.getTime() !== next.observeAt?.getTime()) loop.trigger();
    },
    report: () => syncer.report(),
    leaseChanged() {
      syncer.forgetInventory();
      loop.trigger();
    },
    reconnect() {
      syncer.forgetSession();
      restart('the credentials changed');
    },
    async close() {
      closing.abort();
      await loop.close();
      await syncer.close();
    },
  };

  /** Ends the current reconcile and resets the delays: a fix is tried at once. */
  function restart(because: string): void {
    current.abort(new Error(because));
    [objectRetry, failureRetry] = [NO_ERRORS, NO_ERRORS];
    loop.trigger();
  }

  async function reconcile(): Promise<number> {
    current = new AbortController();
    const signal = AbortSignal.any([closing.signal, current.signal]);
    try {
      const requeue = await syncer.reconcile(assignment, signal);
      if (requeue === 'later') {
        objectRetry = backOffAfterError(objectRetry, attempt(), OBJECT_RETRY);
        return objectRetry.delayMs;
      }
      objectRetry = NO_ERRORS;
      return requeue === 'at once' ? 0 : untilNextContact();
    } catch (error) {
      if (signal.aborted) return 0;
      const { retryAfterSeconds } = isKubeError(error) ? error : {};
      failureRetry = backOffAfterError(failureRetry, { ...attempt(), retryAfterSeconds }, FAILURE_RETRY);
      syncer.recordFailure(error, new Date(clock.now().getTime() + failureRetry.delayMs));
      return failureRetry.delayMs;
    } finally {
      options.onReport();
    }
  }

  function untilNextContact(): number {
    const untilObserveMs = (assignment?.observeAt?.getTime() ?? 0) - clock.now().getTime();
    return untilObserveMs > 0 ? Math.min(CONTACT_MS, untilObserveMs) : CONTACT_MS;
  }

  function attempt(): { atMs: number; random: number } {
    return { atMs: clock.monotonicMs(), random: options.random() };
  }
}

/** `because` differs from one reconcile of promotion to the next and does not count. */
function hasChanged(before: ClusterTarget, next: ClusterTarget): boolean {
  return (
    (['mode', 'commit', 'digest', 'pipeline', 'provenBefore', 'isRollback'] as const).some(
      (field) => before[field] !== next[field],
    ) ||
    !isDeepStrictEqual(before.pausedUnits, next.pausedUnits) ||
    !isDeepStrictEqual(before.pausedObjects, next.pausedObjects)
  );
}
