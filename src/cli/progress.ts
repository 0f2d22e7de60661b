/**
 * Shows progress on stderr for work that takes more than a second: on a terminal one line that is overwritten,
 * elsewhere (logs, CI) a line for each step. Shorter work prints nothing.
 */
import { styleText } from 'node:util';
import { printableLine } from '../kube/objects/printable.ts';
import { COLUMNS } from '../views/text/wrap.ts';
import type { Io } from './io.ts';

const QUIET_MS = 1000;

export interface StepProgress {
  /** Shows the current step: `building the control plane (3 of 5)`. */
  step(text: string): void;
}

export async function withProgress<T>(io: Io, work: (progress: StepProgress) => Promise<T>): Promise<T> {
  // KUBENODE_PROGRESS=all shows every step, however short.
  const quietMs = io.env['KUBENODE_PROGRESS'] === 'all' ? 0 : QUIET_MS;
  const startedMs = io.clock.monotonicMs();
  const stop = new AbortController();
  let latest: string | undefined;
  let shown: string | undefined;

  function show(): void {
    if (latest === undefined || latest === shown) return;
    if (io.clock.monotonicMs() - startedMs < quietMs) return;
    shown = latest;
    // A line that is wrapped could not be overwritten.
    const fitting = latest.slice(0, (io.screen()?.columns ?? COLUMNS) - 1);
    io.err(io.interactive ? `\r\u001B[2K${styleText('dim', fitting)}` : `${latest}\n`);
  }

  // A step that begins in the quiet second is shown when that second is over.
  const reveal = io.clock.sleep(quietMs, stop.signal).then(show, () => undefined);
  try {
    return await work({
      step(text) {
        latest = printableLine(text);
        show();
      },
    });
  } finally {
    stop.abort();
    await reveal;
    if (shown !== undefined && io.interactive) io.err('\r\u001B[2K');
  }
}
