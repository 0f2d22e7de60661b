/**
 * How a process ends: on a signal everything is taken down in the reverse order of its start, each step with a
 * limit, all of them with one. A second signal ends it at once. Whoever is killed instead loses nothing either;
 * a clean end only makes the next start quicker.
 */
import { constants } from 'node:os';
import type { Clock } from '../../os/clock.ts';
import type { Log } from './log.ts';

export type StopSignal = 'SIGTERM' | 'SIGINT';

/** The part of `process` that is needed. */
export interface SignalSource {
  on(signal: StopSignal, listener: (signal: StopSignal) => void): unknown;
  off(signal: StopSignal, listener: (signal: StopSignal) => void): unknown;
  exit(code: number): void;
}

export interface StopSignalListener {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** Gives the signals back to Node. */
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

/** The first signal aborts, the second one exits with what the shell expects: 128 and the signal's number. */
export function listenForStopSignals(source: SignalSource, log: Log): StopSignalListener {
  const controller = new AbortController();
  const listener = (signal: StopSignal): void => {
    if (controller.signal.aborted) {
      log.warn('second signal, ending at once', { signal });
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

/** `giveUp` is aborted when the step's time is over. */
export type StopStep = (giveUp: AbortSignal) => Promise<void>;

export interface Shutdown {
  /** What is started later is stopped earlier. */
  add(name: string, stop: StopStep): void;
  /** The names of the steps that failed or took too long. Calling it again gives the same answer. */
  run(): Promise<readonly string[]>;
}

export interface ShutdownOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** For all steps together. Kubernetes kills after 30 s. */
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
      // A step that is late is still told to stop, even when no time is left to wait for it.
      const leftMs = Math.max(0, Math.min(stepMs, endMs - clock.monotonicMs()));
      // oxlint-disable-next-line no-await-in-loop -- in order: what depends on something goes first
      if (!(await runOne(step, leftMs))) unfinished.push(step.name);
    }
    return unfinished;
  }

  async function runOne(
    { name, stop }: { readonly name: string; readonly stop: StopStep },
    limitMs: number,
  ): Promise<boolean> {
    const late = new AbortController();
    const done = new AbortController();
    const inTime = clock.sleep(limitMs, done.signal).then(
      () => false,
      () => false,
    );
    try {
      const stopped = stop(late.signal).then(() => true);
      const finished = await Promise.race([stopped, inTime]);
      if (!finished) {
        log.warn('not stopped in time', { step: name, limitMs });
        late.abort();
        // It goes on without us, and whatever it says now is said to nobody.
        stopped.catch((error: unknown) => log.debug('stopped late', { step: name, error }));
      }
      return finished;
    } catch (error) {
      log.warn('not stopped', { step: name, error });
      return false;
    } finally {
      done.abort();
    }
  }
}
