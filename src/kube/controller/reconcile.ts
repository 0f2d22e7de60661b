/** One pass over one key: with a time limit, a fence, and an end that is known also when it comes late. */
import type { Clock } from '../../os/clock.ts';
import type { Term } from '../leader/term.ts';
import type { Log } from '../process/log.ts';
import type { Controller, Outcome, Pass } from './controller.ts';

export type PassResult =
  | { readonly ok: true; readonly outcome: Outcome }
  | { readonly ok: false; readonly error: unknown };

export interface RunningPass {
  readonly key: string;
  readonly startMs: number;
  /** Never rejects. It may come long after the limit: the key is busy until then. */
  readonly ended: Promise<PassResult>;
  /** Its time was over first. */
  readonly late: boolean;
  /** Resolves when its time is over, never otherwise. */
  readonly timeUp: Promise<void>;
  /** It should stop, and writes nothing more. */
  abort(reason: unknown): void;
  /** The same, because its time is over. */
  expire(limitMs: number): void;
}

export interface PassOptions {
  readonly controller: Pick<Controller, 'reconcile'>;
  readonly term: Term | undefined;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Log;
}

/** Of what a pass may ask for, most passes ask for nothing: it is made when they do. */
export function beginPass(key: string, { controller, term, clock, log }: PassOptions): RunningPass {
  const timeUp = Promise.withResolvers<void>();
  let cancel: AbortController | undefined;
  let stopped: { readonly reason: unknown } | undefined;
  let late = false;
  const pass: Pass = {
    epoch: term?.epoch,
    get signal() {
      cancel ??= new AbortController();
      if (stopped) cancel.abort(stopped.reason);
      return cancel.signal;
    },
    get log() {
      return log.with({ key });
    },
    fence: () => {
      if (stopped) throw stopped.reason;
      term?.fence();
    },
  };
  return {
    key,
    startMs: clock.monotonicMs(),
    ended: resultOf(() => controller.reconcile(key, pass)),
    timeUp: timeUp.promise,
    get late() {
      return late;
    },
    abort,
    expire: (limitMs) => {
      late = true;
      abort(new Error(`the pass took longer than ${limitMs / 1000} s`));
      timeUp.resolve();
    },
  };

  function abort(reason: unknown): void {
    stopped ??= { reason };
    cancel?.abort(stopped.reason);
  }
}

async function resultOf(run: () => Promise<Outcome>): Promise<PassResult> {
  try {
    return { ok: true, outcome: await run() };
  } catch (error) {
    return { ok: false, error };
  }
}

export interface PassWatch {
  readonly all: Iterable<RunningPass>;
  begun(pass: RunningPass): void;
  ended(pass: RunningPass): void;
  stop(): void;
}

/** One timer for all passes under way: they have the same limit, so that who began first is late first. */
export function passWatch(clock: Clock, limitMs: number): PassWatch {
  const all = new Set<RunningPass>();
  const stopped = new AbortController();
  let armed = false;
  return {
    all,
    begun: (pass) => {
      all.add(pass);
      if (!armed) void watch();
    },
    ended: (pass) => void all.delete(pass),
    stop: () => stopped.abort(),
  };

  /** It runs on when its pass ended in time: to give up a timer for each pass costs more than to look in vain. */
  async function watch(): Promise<void> {
    armed = true;
    for (let first = oldest(); first; first = oldest()) {
      const leftMs = first.startMs + limitMs - clock.monotonicMs();
      if (leftMs <= 0) first.expire(limitMs);
      else if (!(await slept(leftMs))) return;
    }
    armed = false;
  }

  function oldest(): RunningPass | undefined {
    for (const pass of all) if (!pass.late) return pass;
    return undefined;
  }

  async function slept(ms: number): Promise<boolean> {
    try {
      await clock.sleep(ms, stopped.signal);
      return true;
    } catch {
      return false;
    }
  }
}
