/**
 * Runs downloads beside the loop: an artifact of a gigabyte must not keep the agent from its heartbeat, and from what drifts meanwhile. A
 * download that is short is waited for. With a declared bandwidth one runs at a time, so that the agent stays within its share.
 */
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import { RetryLater } from '../host/errors.ts';
import { type DownloadPace, planPace, planRetry } from './pace.ts';
import type { DownloadSettings } from './settings.ts';

export interface Downloads {
  /** Loads an artifact. Running: the download continues, and is asked for again. Rejects once when it failed. */
  load(sha256: string, download: Download): Promise<'Loaded' | 'Running'>;
  /** Returns the downloads that are running, by SHA-256. */
  running(): ReadonlySet<string>;
  /** Ends the downloads that are running. */
  close(): void;
}

export interface DownloadTerms {
  readonly signal: AbortSignal;
  readonly settings: DownloadSettings;
  /** Undefined: as fast as it can be. */
  readonly bytesPerSecond: number | undefined;
}

export type Download = (terms: DownloadTerms) => Promise<void>;

export interface DownloadsContext {
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
  readonly random: () => number;
  readonly log: Pick<Log, 'info'>;
  readonly readSettings: () => Promise<DownloadSettings>;
  readonly onEnd: () => void;
}

/** The time for which a download is waited for: what comes from a mirror nearby needs no second reconcile. */
const PATIENCE_MS = 1000;

type Ended = { readonly failure?: unknown };

export function createDownloads(context: DownloadsContext): Downloads {
  const { clock, readSettings, onEnd } = context;
  const running = new Set<string>();
  const failed = new Map<string, unknown>();
  const closed = new AbortController();
  const takeTurn = createTurns();

  async function begin(sha256: string, download: Download): Promise<Ended> {
    running.add(sha256);
    try {
      await attempt(sha256, download);
      return {};
    } catch (error) {
      return { failure: error };
    } finally {
      running.delete(sha256);
    }
  }

  async function attempt(sha256: string, download: Download): Promise<void> {
    const settings = await readSettings();
    const pace = settings.bandwidth && planPace(settings.bandwidth);
    const terms = { signal: closed.signal, settings, bytesPerSecond: pace?.bytesPerSecond };
    if (pace) await spreadStart(pace, sha256);
    const once = (): Promise<void> => (pace ? takeTurn(() => download(terms)) : download(terms));
    await retryDownload(once, { ...context, sha256, signal: closed.signal });
  }

  async function spreadStart({ startWindowMs, because }: DownloadPace, artifact: string): Promise<void> {
    const delayMs = startWindowMs * context.random();
    context.log.info('download waits', { artifact, seconds: Math.ceil(delayMs / 1000), because });
    await clock.sleep(delayMs, closed.signal);
  }

  async function patiently(ending: Promise<Ended>): Promise<Ended | undefined> {
    const patience = new AbortController();
    const late = clock.sleep(PATIENCE_MS, patience.signal).catch(() => undefined);
    const ended = await Promise.race([ending, late]);
    patience.abort();
    return ended ?? undefined;
  }

  async function tellEnd(sha256: string, ending: Promise<Ended>): Promise<void> {
    const ended = await ending;
    if ('failure' in ended) failed.set(sha256, ended.failure);
    onEnd();
  }

  return {
    running: () => new Set(running),
    close: () => closed.abort(),
    async load(sha256, download) {
      if (running.has(sha256)) return 'Running';
      if (failed.has(sha256)) {
        const failure = failed.get(sha256);
        failed.delete(sha256);
        throw failure;
      }
      const ending = begin(sha256, download);
      const ended = await patiently(ending);
      if (ended && 'failure' in ended) throw ended.failure;
      if (ended) return 'Loaded';
      void tellEnd(sha256, ending);
      return 'Running';
    },
  };
}

interface RetryContext extends Pick<DownloadsContext, 'clock' | 'random' | 'log'> {
  readonly sha256: string;
  readonly signal: AbortSignal;
}

/** Tries again what may succeed later. A server that asks to wait is not asked before. */
async function retryDownload(
  once: () => Promise<void>,
  { clock, random, log, sha256: artifact, signal }: RetryContext,
): Promise<void> {
  for (let [failures, askedMs] = [0, 0]; ; ) {
    try {
      return await once();
    } catch (error) {
      if (!(error instanceof RetryLater)) throw error;
      const { retryAfterMs } = error;
      failures = retryAfterMs === undefined ? failures + 1 : 0;
      const plan = planRetry({ failures, retryAfterMs, askedMs, random: random() });
      if (plan.type === 'Fail') throw error;
      askedMs += retryAfterMs ?? 0;
      const seconds = Math.ceil(plan.delayMs / 1000);
      log.info('download waits', { artifact, seconds, because: plan.because, detail: error.message });
      await clock.sleep(plan.delayMs, signal);
      if (plan.type === 'FailAfter') throw error;
    }
  }
}

/** One after the other, in order. A failure of one is not a failure of the next. */
function createTurns(): (work: () => Promise<void>) => Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
}
