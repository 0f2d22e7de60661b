/** Runs one check at a time, of the newest commit: a newer one cancels the check in progress. */
export interface LatestCheck {
  /** Returns at once. Does nothing while the same commit is being checked. */
  start(commit: string): void;
  /** Cancels the check in progress, and resolves when it has ended. */
  close(): Promise<void>;
}

export interface LatestCheckOptions {
  readonly check: (commit: string, signal: AbortSignal) => Promise<void>;
  /** Called with the error of a check that failed; not called for one that was canceled. */
  readonly onEnd: (error?: Error) => void;
}

interface Run {
  readonly commit: string;
  readonly cancel: AbortController;
}

export function createLatestCheck({ check, onEnd }: LatestCheckOptions): LatestCheck {
  let current: Run | undefined;
  let ended = Promise.resolve();

  return {
    start(commit) {
      if (current?.commit === commit) return;
      current?.cancel.abort(new Error('a newer commit was observed'));
      const run = { commit, cancel: new AbortController() };
      current = run;
      ended = runAfter(ended, run);
    },
    async close() {
      current?.cancel.abort(new Error('the repository was closed'));
      await ended;
    },
  };

  /** Runs the check after the canceled one has ended: its result must not replace that of a newer commit. */
  async function runAfter(previous: Promise<void>, run: Run): Promise<void> {
    await previous;
    await runOne(run.commit, run.cancel.signal);
    if (current === run) current = undefined;
  }

  async function runOne(commit: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    try {
      await check(commit, signal);
      if (!signal.aborted) onEnd();
    } catch (error) {
      if (!signal.aborted) onEnd(error instanceof Error ? error : new Error(String(error)));
    }
  }
}
