/** Starts a server that waits for something in the cluster, and leaves the rest of its process running meanwhile. */
import type { Clock } from '../../../os/clock.ts';
import { messageOf } from '../../../os/errors.ts';

/** Something in the cluster is looked for as often as missing kinds are. */
const RETRY_MS = 15_000;

export interface LateServer {
  close(): Promise<void>;
}

export interface LateServerOptions {
  readonly clock: Clock;
  /** Tells whether the server waits for the end of this error. Every other one ends the process at first, and is retried later. */
  readonly isAwaited: (error: unknown) => boolean;
  /** Called once for each reason. */
  readonly report: (because: string) => void;
}

/** Resolves when the server has started, or waits. */
export async function serveLater(
  start: () => Promise<LateServer>,
  { clock, isAwaited, report }: LateServerOptions,
): Promise<LateServer> {
  try {
    return await start();
  } catch (error) {
    if (!isAwaited(error)) throw error;
    const stop = new AbortController();
    const starting = retry(messageOf(error), stop.signal);
    return {
      close: async () => {
        stop.abort();
        await (await starting)?.close();
      },
    };
  }

  async function retry(first: string, signal: AbortSignal): Promise<LateServer | undefined> {
    let because = first;
    report(because);
    while (await slept(signal)) {
      try {
        return await start(); // oxlint-disable-line no-await-in-loop -- one try after the other
      } catch (error) {
        const next = messageOf(error);
        if (next !== because) report(next);
        because = next;
      }
    }
    return undefined;
  }

  /** False: the server is closed. */
  function slept(signal: AbortSignal): Promise<boolean> {
    return clock.sleep(RETRY_MS, signal).then(
      () => true,
      () => false,
    );
  }
}
