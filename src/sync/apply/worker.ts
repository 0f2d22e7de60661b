/**
 * Keeps one cluster at its target for ever: a pass when the target or the cluster changes, and again and again, with
 * growing patience, while something is not as it should be. A new target ends the pass of the old one between two
 * requests. Nothing here is remembered that matters: the cluster's inventory and git are enough to go on.
 */
import { afterError, CALM } from '../../kube/backoff.ts';
import { isKubeError } from '../../kube/errors.ts';
import type { ClusterReport, ClusterTarget } from '../promote/ports.ts';
import { type ContactOptions, clusterContact } from './contact.ts';

export interface WorkerOptions extends Omit<ContactOptions, 'onChange'> {
  /** The report has changed. */
  readonly onReport: () => void;
}

export interface ClusterWorker {
  target(target: ClusterTarget): void;
  report(): ClusterReport;
  /** Something changed that it cannot see by itself, such as its right to write. */
  wake(): void;
  /** The credentials have changed: connect anew. */
  reconnect(): void;
  close(): Promise<void>;
}

/** How long a change may gather companions before a pass looks at them. */
const GATHER_MS = 200;
/** Contact, and proof of identity, at least so often. */
const CONTACT_MS = 15_000;
const RETRY = { firstMs: 500, longestMs: 300_000, stableMs: 600_000 };

export function clusterWorker(options: WorkerOptions): ClusterWorker {
  const { clock } = options;
  const closing = new AbortController();
  const contact = clusterContact({ ...options, onChange: () => wake.resolve() });
  let wake = Promise.withResolvers<void>();
  let current = new AbortController();
  let target: ClusterTarget | undefined;
  let backoff = CALM;
  const running = run();

  return {
    target(next) {
      const same = JSON.stringify(next) === JSON.stringify(target);
      target = next;
      if (!same) interrupt('the target changed');
    },
    report: () => contact.report(),
    wake: () => wake.resolve(),
    reconnect() {
      contact.forgetSession();
      interrupt('the credentials changed');
    },
    async close() {
      closing.abort();
      wake.resolve();
      await running;
    },
  };

  /** News ends every wait and every retry of what was before. */
  function interrupt(because: string): void {
    current.abort(new Error(because));
    backoff = CALM;
    wake.resolve();
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      wake = Promise.withResolvers();
      current = new AbortController();
      const waitMs = await round(AbortSignal.any([closing.signal, current.signal]));
      options.onReport();
      await quietFor(waitMs);
    }
    await contact.close();
  }

  /** How long to wait when nothing happens. */
  async function round(signal: AbortSignal): Promise<number> {
    try {
      const again = await contact.round(target, signal);
      if (again === 'later') return patience();
      backoff = CALM;
      return again === 'at once' ? 0 : CONTACT_MS;
    } catch (error) {
      if (signal.aborted) return 0;
      contact.lost(error);
      return patience(isKubeError(error) ? error.retryAfterSeconds : undefined);
    }
  }

  function patience(retryAfterSeconds?: number): number {
    const now = { atMs: clock.monotonicMs(), chance: options.random(), retryAfterSeconds };
    backoff = afterError(backoff, now, RETRY);
    return backoff.delayMs;
  }

  async function quietFor(waitMs: number): Promise<void> {
    const stop = new AbortController();
    const over = clock.sleep(waitMs, stop.signal).catch(() => undefined);
    await Promise.race([over, wake.promise]);
    stop.abort();
    if (waitMs > 0) await clock.sleep(GATHER_MS, closing.signal).catch(() => undefined);
  }
}
