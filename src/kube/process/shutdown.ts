/**
 * Graceful shutdown: on a signal, the steps run in the reverse order of the start, with a time limit for each and for
 * all. A second signal ends the process at once. A killed process loses no data; a graceful shutdown only makes the next
 * start faster.
 */
import { constants } from 'node:os';
import type { Clock } from '../../os/clock.ts';
import type { Log } from './log.ts';

export type StopSignal = 'SIGTERM' | 'SIGINT';

/** The part of `process` that is used. */
export interface SignalSource {
  on(signal: StopSignal, listener: (signal: StopSignal) => void): unknown;
  off(signal: StopSignal, listener: (signal: StopSignal) => void): unknown;
  exit(code: number): void;
}

export interface StopSignalListener {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** Removes the signal handlers. */
  stop(): void;
}

const SIGNALS: readonly StopSignal[] = ['SIGTERM', 'SIGINT'];

export class StoppedBySignal extends Error {
  override readonly name = 'Stopped';
  readonly signal: StopSignal;

  constructor(signal: StopSignal) {
    super(`stopped by ${signal}`);
    this.signal = signal;
  }
}

/** The first signal aborts, the second one exits with the code of the shell: 128 plus the number of the signal. */
export function listenForStopSignals(source: SignalSource, log: Log): StopSignalListener {
  const controller = new AbortController();
  const listener = (signal: StopSignal): void => {
    if (controller.signal.aborted) {
      log.warn('second signal, exiting at once', { signal });
      source.exit(128 + constants.signals[signal]);
      return;
    }
    log.info('stopping', { signal });
    controller.abort(new StoppedBySignal(signal));
  };
  for (const signal of SIGNALS) source.on(signal, listener);
  return {
    signal: controller.signal,
    stop: () => {
      for (const signal of SIGNALS) source.off(signal, listener);
    },
  };
}

/** `deadline` is aborted when the time limit of the step is reached. */
export type StopStep = (deadline: AbortSignal) => Promise<void>;

export interface Shutdown {
  /** Steps that are added later run earlier. */
  add(name: string, stop: StopStep): void;
  /** Returns the names of the steps that failed or timed out. Runs once; later calls return the same result. */
  run(): Promise<readonly string[]>;
}

export interface ShutdownOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Limit for all steps together. Kubernetes kills the process after 30 s. */
  readonly totalMs?: number;
  readonly stepMs?: number;
}

export function createShutdown({ clock, log, totalMs = 25_000, stepMs = 10_000 }: ShutdownOptions): Shutdown {
  const steps: { readonly name: string; readonly stop: StopStep }[] = [];
  let running: Promise<readonly string[]> | undefined;
  return {
    add: (name, stop) => steps.push({ name, stop }),
    run: () => (running ??= runAll()),
  };

  async function runAll(): Promise<readonly string[]> {
    const endMs = clock.monotonicMs() + totalMs;
    const unfinished: string[] = [];
    for (let step = steps.pop(); step; step = steps.pop()) {
      // Every step is started, even when no time is left to wait for it.
      const leftMs = Math.max(0, Math.min(stepMs, endMs - clock.monotonicMs()));
      // oxlint-disable-next-line no-await-in-loop -- in order: dependents stop first
      if (!(await runOne(step, leftMs))) unfinished.push(step.name);
    }
    return unfinished;
  }

  async function runOne(
    { name, stop }: { readonly name: string; readonly stop: StopStep },
    limitMs: number,
  ): Promise<boolean> {
    const deadline = new AbortController();
    const done = new AbortController();
    const inTime = clock.sleep(limitMs, done.signal).then(
      () => false,
      () => false,
    );
    try {
      const stopped = stop(deadline.signal).then(() => true);
      const finished = await Promise.race([stopped, inTime]);
      if (!finished) {
        log.warn('shutdown step timed out', { step: name, limitMs });
        deadline.abort();
        // The step continues without being awaited.
        stopped.catch((error: unknown) => log.debug('late shutdown step failed', { step: name, error }));
      }
      return finished;
    } catch (error) {
      log.warn('shutdown step failed', { step: name, error });
      return false;
    } finally {
      done.abort();
    }
  }
}
