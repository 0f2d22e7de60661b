/**
 * Keeps one cluster at its target for ever: a pass when the target or the cluster changes, and again and again, with
 * growing patience, while something is not as it should be. A new target ends the pass of the old one between two
 * requests. Nothing here is remembered that matters: the cluster's inventory and git are enough to go on.
 */

import { isKubeError } from '../../kube/client/errors.ts';
import { wakeLoop } from '../../kube/controller/loop.ts';
import { backOffAfterError, NO_ERRORS } from '../../kube/process/backoff.ts';
import type { ClusterReport, ClusterTarget } from '../cluster-report.ts';
import { type ClusterSyncerOptions, createClusterSyncer } from './cluster-syncer.ts';

export interface ClusterWorkerOptions extends Omit<ClusterSyncerOptions, 'onChange'> {
  /** The report has changed. */
  readonly onReport: () => void;
}

export interface ClusterWorker {
  setTarget(target: ClusterTarget): void;
  report(): ClusterReport;
  /** Something changed that it cannot see by itself, such as its right to write. */
  wake(): void;
  /** The credentials have changed: connect anew. */
  reconnect(): void;
  close(): Promise<void>;
}

const GATHER_MS = 200;
/** Contact at least so often. */
const CONTACT_MS = 15_000;
/** What the server refuses, or what waits for others, is tried less and less. */
const OPEN_WORK = { firstMs: 500, longestMs: 300_000, stableMs: 600_000 };
/** Whether a server has come back costs one request to find out: it must not wait for us for minutes. */
const LOST_PASS = { firstMs: 500, longestMs: 20_000, stableMs: 60_000 };

export function createClusterWorker(options: ClusterWorkerOptions): ClusterWorker {
  const { clock } = options;
  const closing = new AbortController();
  const contact = createClusterSyncer({ ...options, onChange: () => loop.wake() });
  let current = new AbortController();
  let target: ClusterTarget | undefined;
  let open = NO_ERRORS;
  let losses = NO_ERRORS;
  const loop = wakeLoop({ clock, gatherMs: GATHER_MS, round });

  return {
    setTarget(next) {
      const before = target;
      target = next;
      if (!before || isNews(before, next)) interrupt('the target changed');
      else if (before.observeAt?.getTime() !== next.observeAt?.getTime()) loop.wake();
    },
    report: () => contact.report(),
    wake: () => loop.wake(),
    reconnect() {
      contact.forgetSession();
      interrupt('the credentials changed');
    },
    async close() {
      closing.abort();
      await loop.close();
      await contact.close();
    },
  };

  /** News ends every wait and every retry of what was before. */
  function interrupt(because: string): void {
    current.abort(new Error(because));
    [open, losses] = [NO_ERRORS, NO_ERRORS];
    loop.wake();
  }

  async function round(): Promise<number> {
    current = new AbortController();
    const signal = AbortSignal.any([closing.signal, current.signal]);
    try {
      const again = await contact.round(target, signal);
      if (again === 'later') return (open = backOffAfterError(open, moment(), OPEN_WORK)).delayMs;
      open = NO_ERRORS;
      return again === 'at once' ? 0 : untilNextLook();
    } catch (error) {
      if (signal.aborted) return 0;
      contact.lost(error);
      const { retryAfterSeconds } = isKubeError(error) ? error : {};
      return (losses = backOffAfterError(losses, { ...moment(), retryAfterSeconds }, LOST_PASS)).delayMs;
    } finally {
      options.onReport();
    }
  }

  function untilNextLook(): number {
    const awaitedMs = (target?.observeAt?.getTime() ?? 0) - clock.now().getTime();
    return awaitedMs > 0 ? Math.min(CONTACT_MS, awaitedMs) : CONTACT_MS;
  }

  function moment(): { atMs: number; chance: number } {
    return { atMs: clock.monotonicMs(), chance: options.random() };
  }
}

/** Its reason is told anew in every pass, and is no news. */
function isNews(before: ClusterTarget, next: ClusterTarget): boolean {
  return (['mode', 'commit', 'digest', 'pipeline'] as const).some((field) => before[field] !== next[field]);
}
