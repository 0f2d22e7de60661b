/** One pass over one key: with a time limit, a fence, and an end that is known also when it comes late. */
import type { Clock } from './clock.ts';
import type { Controller, Outcome, Pass } from './controller.ts';
import type { Term } from './lease.ts';
import type { Log } from './log.ts';

export type PassResult =
  | { readonly ok: true; readonly outcome: Outcome }
  | { readonly ok: false; readonly error: unknown };

export interface RunningPass {
  readonly key: string;
  readonly startMs: number;
  /** Never rejects. It may come long after the limit: the key is busy until then. */
  readonly ended: Promise<PassResult>;
  /** The time was over first. */
  readonly late: boolean;
  /** Resolves when it ended or its time was over, whichever is first. */
  untilLimit(): Promise<void>;
  /** It should stop, and writes nothing more. */
  abort(reason: unknown): void;
}

export interface PassOptions {
  readonly controller: Pick<Controller, 'reconcile'>;
  readonly term: Term | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly limitMs: number;
}

export function beginPass(key: string, { controller, term, clock, log, limitMs }: PassOptions): RunningPass {
  const cancel = new AbortController();
  const over = new AbortController();
  let late = false;
  const pass: Pass = {
    signal: cancel.signal,
    epoch: term?.epoch,
    log: log.with({ key }),
    fence: () => {
      cancel.signal.throwIfAborted();
      term?.fence();
    },
  };
  const ended = run();
  return {
    key,
    startMs: clock.monotonicMs(),
    ended,
    get late() {
      return late;
    },
    untilLimit,
    abort: (reason) => cancel.abort(reason),
  };

  async function run(): Promise<PassResult> {
    try {
      return { ok: true, outcome: await controller.reconcile(key, pass) };
    } catch (error) {
      return { ok: false, error };
    } finally {
      over.abort();
    }
  }

  async function untilLimit(): Promise<void> {
    await Promise.race([ended, limit()]);
  }

  async function limit(): Promise<void> {
    // Ended in time: the sleep is given up, and there is nothing to say.
    const overdue = await clock.sleep(limitMs, over.signal).then(
      () => true,
      () => false,
    );
    if (!overdue) return;
    late = true;
    cancel.abort(new Error(`the pass took longer than ${limitMs / 1000} s`));
  }
}
