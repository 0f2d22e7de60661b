/**
 * Runs the steps of imports outside of reconciles: SSH takes seconds to minutes, and a host that hangs must hold up no other one. At most one
 * step of a Machine runs at a time, and a bounded number of steps altogether; the others wait for their turn, first come, first served.
 */
import type { Clock } from '../../../../os/clock.ts';
import { withDeadline } from '../../../../os/deadline.ts';
import { OsError } from '../../../../os/errors.ts';

export interface HostJob<Result> {
  /** The name of the Machine, whose reconcile is triggered when the job ends. */
  readonly machine: string;
  readonly uid: string;
  /** The work that it belongs to. The result of other work is never returned for it. */
  readonly attempt: string;
  readonly limitMs: number;
  readonly run: (signal: AbortSignal) => Promise<Result>;
  /** Returns the result of a job that failed. `failures` counts those in a row, with this one. */
  readonly failed: (error: unknown, failures: number) => Result;
  /** Whether the result counts as a failure. */
  readonly hasFailed: (result: Result) => boolean;
}

export interface HostWork<Result> {
  /** Whether a job of the Machine runs or waits, also one of another attempt. */
  isRunning(uid: string): boolean;
  result(uid: string, attempt: string): Result | undefined;
  /** Does nothing while another job of the Machine runs. */
  start(job: HostJob<Result>): void;
  /** Aborts the job of the Machine, unless it belongs to this attempt. Its reconcile is triggered when it has ended. */
  abort(uid: string, unless?: string): void;
  /** Ends the job, and drops the result. */
  forget(uid: string): void;
  /** Calls `add` with the Machine of each job that ends. Returns a function that aborts all jobs. */
  open(add: (machine: string) => void): () => void;
}

/** A connection takes a few MiB while a program is copied. */
const AT_ONCE = 50;

function ignore(_machine: string): void {}

export function createHostWork<Result>(clock: Clock, atOnce = AT_ONCE): HostWork<Result> {
  const jobs = new Map<string, { readonly job: HostJob<Result>; readonly stop: AbortController }>();
  const results = new Map<
    string,
    { readonly attempt: string; readonly result: Result; readonly failures: number }
  >();
  let waiting: string[] = [];
  let active = 0;
  let add = ignore;
  return {
    isRunning: (uid) => jobs.has(uid),
    result: (uid, attempt) => {
      const found = results.get(uid);
      return found?.attempt === attempt ? found.result : undefined;
    },
    start: (job) => {
      if (jobs.has(job.uid)) return;
      jobs.set(job.uid, { job, stop: new AbortController() });
      waiting.push(job.uid);
      next();
    },
    abort,
    forget: (uid) => {
      abort(uid);
      results.delete(uid);
    },
    open: (added) => {
      add = added;
      return () => {
        for (const uid of jobs.keys()) abort(uid);
      };
    },
  };

  function abort(uid: string, unless?: string): void {
    const found = jobs.get(uid);
    if (!found || found.job.attempt === unless) return;
    found.stop.abort(new Error('the step is not needed any more'));
    if (!waiting.includes(uid)) return;
    waiting = waiting.filter((each) => each !== uid);
    jobs.delete(uid);
    add(found.job.machine);
  }

  function next(): void {
    while (active < atOnce) {
      const uid = waiting.shift();
      const found = uid === undefined ? undefined : jobs.get(uid);
      if (!found) return;
      active += 1;
      void settle(found.job, found.stop.signal);
    }
  }

  async function settle(job: HostJob<Result>, signal: AbortSignal): Promise<void> {
    const { uid, attempt, machine } = job;
    const before = results.get(uid);
    const failures = before?.attempt === attempt && job.hasFailed(before.result) ? before.failures : 0;
    const result = await outcome(job, signal, failures + 1);
    active -= 1;
    jobs.delete(uid);
    // The result of a job that was aborted tells nothing about the host.
    if (!signal.aborted) {
      results.set(uid, { attempt, result, failures: job.hasFailed(result) ? failures + 1 : 0 });
    }
    add(machine);
    next();
  }

  async function outcome(job: HostJob<Result>, signal: AbortSignal, failures: number): Promise<Result> {
    const { limitMs: ms } = job;
    const expired = (): Error =>
      new OsError<'Timeout'>('Timeout', `the step took longer than ${ms / 1000} s and was ended`);
    try {
      return await withDeadline({ clock, ms, signal, expired }, job.run);
    } catch (error) {
      return job.failed(error, failures);
    }
  }
}
