/** Runs one round after another: when triggered, or after the delay that the last round returned. */
import type { Clock } from '../../os/clock.ts';

export interface Loop {
  /** Another round as soon as the present one is over. Triggers that come together start one round. */
  trigger(): void;
  /** Resolves when the last round is over. */
  close(): Promise<void>;
}

export interface LoopOptions {
  readonly clock: Clock;
  /** How long a round waits after its trigger for others that come with it. */
  readonly gatherMs: number;
  /** Resolves with how long to wait when nothing triggers. Never rejects. */
  readonly round: () => Promise<number>;
}

export function createLoop({ clock, gatherMs, round }: LoopOptions): Loop {
  const closing = new AbortController();
  let triggered = Promise.withResolvers<void>();
  const running = run();

  return {
    trigger: () => triggered.resolve(),
    async close() {
      closing.abort();
      triggered.resolve();
      await running;
    },
  };

  async function run(): Promise<void> {
    // A turn of the event loop, so that the caller has the loop before its first round.
    await clock.sleep(0, closing.signal).catch(() => undefined);
    while (!closing.signal.aborted) {
      triggered = Promise.withResolvers();
      const waitMs = await round();
      await wait(waitMs);
    }
  }

  async function wait(waitMs: number): Promise<void> {
    const stop = new AbortController();
    const over = clock.sleep(waitMs, stop.signal).catch(() => undefined);
    await Promise.race([over, triggered.promise]);
    stop.abort();
    if (waitMs > 0) await clock.sleep(gatherMs, closing.signal).catch(() => undefined);
  }
}
