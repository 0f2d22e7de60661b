/** A round again and again: when woken, or after the time that the last one asked for. */
import type { Clock } from '../../os/clock.ts';

export interface WakeLoop {
  /** Another round as soon as the present one is over. Many wakes are one. */
  wake(): void;
  /** Resolves when the last round is over. */
  close(): Promise<void>;
}

export interface WakeLoopOptions {
  readonly clock: Clock;
  /** How long news may gather companions before a round looks at them. */
  readonly gatherMs: number;
  /** Resolves with how long to wait when nothing happens. Never rejects. */
  readonly round: () => Promise<number>;
}

export function wakeLoop({ clock, gatherMs, round }: WakeLoopOptions): WakeLoop {
  const closing = new AbortController();
  let woken = Promise.withResolvers<void>();
  const running = run();

  return {
    wake: () => woken.resolve(),
    async close() {
      closing.abort();
      woken.resolve();
      await running;
    },
  };

  async function run(): Promise<void> {
    // A turn of the event loop, so that whoever makes a loop has it before its first round.
    await clock.sleep(0, closing.signal).catch(() => undefined);
    while (!closing.signal.aborted) {
      woken = Promise.withResolvers();
      const waitMs = await round();
      await quietFor(waitMs);
    }
  }

  async function quietFor(waitMs: number): Promise<void> {
    const stop = new AbortController();
    const over = clock.sleep(waitMs, stop.signal).catch(() => undefined);
    await Promise.race([over, woken.promise]);
    stop.abort();
    if (waitMs > 0) await clock.sleep(gatherMs, closing.signal).catch(() => undefined);
  }
}
