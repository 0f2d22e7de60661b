/** One reconcile of one key: it has a time limit, an abort stops its writes, and its end is reported even when it is late. */

import type { Clock } from '../../os/clock.ts';
import { messageOf } from '../../os/errors.ts';
import { KubeError } from '../client/errors.ts';
import { type ContextParts, createContext } from './context.ts';
import type { Controller, ReconcileResult } from './controller.ts';

export type ReconcileEnd =
  | { readonly ok: true; readonly result: ReconcileResult }
  | { readonly ok: false; readonly error: unknown };

export interface RunningReconcile {
  readonly key: string;
  readonly startMs: number;
  /** Never rejects. It may come long after the limit: the key is busy until then. */
  readonly ended: Promise<ReconcileEnd>;
  /** It exceeded its time limit. */
  readonly late: boolean;
  /** Resolves when the time limit is exceeded, never otherwise. */
  readonly timeUp: Promise<void>;
  /** Aborts its signal and stops its writes. */
  abort(reason: unknown): void;
  /** The same, because of its time limit. */
  expire(limitMs: number): void;
}

export interface ReconcileOptions {
  readonly controller: Pick<Controller, 'reconcile'>;
  readonly parts: ContextParts;
}

export function beginReconcile(key: string, { controller, parts }: ReconcileOptions): RunningReconcile {
  const timeUp = Promise.withResolvers<void>();
  let cancel: AbortController | undefined;
  let stopped: { readonly reason: unknown } | undefined;
  let late = false;
  const context = createContext(parts, {
    key,
    // Most reconciles wait for nothing: the signal is made when it is asked for.
    get signal() {
      cancel ??= new AbortController();
      if (stopped) cancel.abort(stopped.reason);
      return cancel.signal;
    },
    // Whether the lease is still held is asked by the client, which is fenced.
    beforeSend: () => {
      if (stopped) throw notSent(stopped.reason);
    },
  });
  return {
    key,
    startMs: parts.clock.monotonicMs(),
    ended: endOf(() => controller.reconcile(key, context)),
    timeUp: timeUp.promise,
    get late() {
      return late;
    },
    abort,
    expire: (limitMs) => {
      late = true;
      abort(new Error(`the reconcile exceeded its limit of ${limitMs / 1000} s`));
      timeUp.resolve();
    },
  };

  function abort(reason: unknown): void {
    stopped ??= { reason };
    cancel?.abort(stopped.reason);
  }
}

function notSent(reason: unknown): KubeError {
  const why = messageOf(reason);
  return new KubeError('Aborted', `not sent: ${why}`, { cause: reason });
}

async function endOf(run: () => Promise<ReconcileResult>): Promise<ReconcileEnd> {
  try {
    return { ok: true, result: await run() };
  } catch (error) {
    return { ok: false, error };
  }
}

export interface ReconcileTimer {
  readonly running: Iterable<RunningReconcile>;
  begun(reconcile: RunningReconcile): void;
  ended(reconcile: RunningReconcile): void;
  stop(): void;
}

/** One timer for all reconciles: they have the same limit, so that the oldest exceeds it first. */
export function createReconcileTimer(clock: Clock, limitMs: number): ReconcileTimer {
  const running = new Set<RunningReconcile>();
  const stopped = new AbortController();
  let armed = false;
  return {
    running,
    begun: (reconcile) => {
      running.add(reconcile);
      if (!armed) void watch();
    },
    ended: (reconcile) => void running.delete(reconcile),
    stop: () => stopped.abort(),
  };

  /** The timer keeps running when its reconcile ended in time: one timer for each reconcile would cost more. */
  async function watch(): Promise<void> {
    armed = true;
    for (let first = oldest(); first; first = oldest()) {
      const leftMs = first.startMs + limitMs - clock.monotonicMs();
      if (leftMs <= 0) first.expire(limitMs);
      else if (!(await slept(leftMs))) return;
    }
    armed = false;
  }

  function oldest(): RunningReconcile | undefined {
    for (const reconcile of running) if (!reconcile.late) return reconcile;
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
