/**
 * Runs downloads beside the loop: an artifact of a gigabyte must not keep the agent from its heartbeat, and from what drifts meanwhile. A
 * download that is short is waited for.
 */
import type { Clock } from '../../os/clock.ts';

export interface Downloads {
  /** Loads an artifact. Running: the download continues, and is asked for again. Rejects once when it failed. */
  load(sha256: string, download: (signal: AbortSignal) => Promise<void>): Promise<'Loaded' | 'Running'>;
  /** Returns the downloads that are running, by SHA-256. */
  running(): ReadonlySet<string>;
  /** Ends the downloads that are running. */
  close(): void;
}

/** The time for which a download is waited for: what comes from a mirror nearby needs no second reconcile. */
const PATIENCE_MS = 1000;

type Ended = { readonly failure?: unknown };

export function createDownloads(clock: Pick<Clock, 'sleep'>, onEnd: () => void): Downloads {
  const running = new Set<string>();
  const failed = new Map<string, unknown>();
  const closed = new AbortController();

  async function begin(sha256: string, download: (signal: AbortSignal) => Promise<void>): Promise<Ended> {
    running.add(sha256);
    try {
      await download(closed.signal);
      return {};
    } catch (error) {
      return { failure: error };
    } finally {
      running.delete(sha256);
    }
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
