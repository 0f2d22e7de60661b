/**
 * Progress on stderr for work that takes more than a second: one line that is written over for a person,
 * a plain line for each step where nobody watches (logs, CI). Short work prints nothing.
 */
import { styleText } from 'node:util';
import type { Io } from './io.ts';

const QUIET_MS = 1000;

export interface Progress {
  /** What happens now: `building the control plane (3 of 5)`. */
  step(text: string): void;
}

export async function withProgress<T>(io: Io, work: (progress: Progress) => Promise<T>): Promise<T> {
  // For whoever has to see every step, however quick: KUBENODE_PROGRESS=all.
  const quietMs = io.env['KUBENODE_PROGRESS'] === 'all' ? 0 : QUIET_MS;
  const startedMs = io.clock.monotonicMs();
  const stop = new AbortController();
  let latest: string | undefined;
  let shown: string | undefined;

  function show(): void {
    if (latest === undefined || latest === shown) return;
    if (io.clock.monotonicMs() - startedMs < quietMs) return;
    shown = latest;
    io.err(io.interactive ? `\r\u001B[2K${styleText('dim', latest)}` : `${latest}\n`);
  }

  // A step that began in the quiet second is shown when that second is over.
  const reveal = io.clock.sleep(quietMs, stop.signal).then(show, () => undefined);
  try {
    return await work({
      step(text) {
        latest = text;
        show();
      },
    });
  } finally {
    stop.abort();
    await reveal;
    if (shown !== undefined && io.interactive) io.err('\r\u001B[2K');
  }
}
