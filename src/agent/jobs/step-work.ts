/** Runs the work of one step beside the loop of the agent: with a time limit, and never two at a time. */
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import { OsError } from '../../os/errors.ts';
import { type JobStepProgress, jobStepKey } from '../journal/jobs.ts';
import { runName } from './output.ts';
import { failedStep, type StepContext, type StepExecutor, type StepResult } from './steps/executor.ts';

export interface StepWork {
  start(progress: JobStepProgress, how: StepStart): void;
  /** Returns the step that is being carried out within its time, or whose result was not taken. */
  current(): JobStepProgress | undefined;
  /** Tells whether something still works on the host. */
  isBusy(): boolean;
  /** Tells whether the time of this step was over before its work ended. */
  isOverdue(key: string): boolean;
  takeResult(): EndedWork | undefined;
  /** Stops the work when the agent ends: what it did so far is observed by the next agent. */
  stop(): void;
}

export interface StepStart {
  readonly executor: StepExecutor;
  readonly context: StepContext;
  readonly timeoutMs: number;
}

export interface EndedWork {
  readonly progress: JobStepProgress;
  readonly result: StepResult;
}

export interface StepWorkOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly onChange: () => void;
}

export function createStepWork({ clock, log, onChange }: StepWorkOptions): StepWork {
  let current: JobStepProgress | undefined;
  let result: StepResult | undefined;
  let working = 0;
  let overdue: string | undefined;
  const agentEnds = new AbortController();

  async function work(progress: JobStepProgress, how: StepStart, signal: AbortSignal): Promise<StepResult> {
    const { executor, context, timeoutMs } = how;
    working += 1;
    try {
      const run = { name: runName(progress), before: progress.before, timeoutMs, signal };
      const done = await executor.execute?.(context, progress.input as never, run);
      return done ?? failedStep('ExecutorFailed', 'the step is carried out by the loop of the agent');
    } catch (error) {
      return errorResult(error, progress);
    } finally {
      working -= 1;
      onChange();
    }
  }

  /** Returns the result of an error. What the operating system refuses is a result. Anything else is a fault of the agent itself. */
  function errorResult(error: unknown, { jobName: job, step }: JobStepProgress): StepResult {
    if (!(error instanceof OsError)) log.error('job step failed', { job, step, error });
    const { code, message } = error as { code?: unknown; message?: unknown };
    return failedStep(typeof code === 'string' ? code : 'ExecutorFailed', String(message));
  }

  async function within(progress: JobStepProgress, how: StepStart): Promise<void> {
    const [stop, ended] = [new AbortController(), new AbortController()];
    const untilEnd = AbortSignal.any([ended.signal, agentEnds.signal]);
    const timeout = clock.sleep(how.timeoutMs, untilEnd).then(
      () => 'TimedOut' as const,
      () => 'TimedOut' as const,
    );
    const first = await Promise.race([work(progress, how, stop.signal), timeout]);
    ended.abort();
    if (first === 'TimedOut') {
      stop.abort(new Error('the time of the step is over'));
      // Its result comes too late: what became of it is observed.
      overdue = jobStepKey(progress);
      current = undefined;
    } else result = first;
    onChange();
  }

  return {
    start(progress, how) {
      current = progress;
      void within(progress, how);
    },
    current: () => current,
    isBusy: () => working > 0,
    isOverdue: (key) => overdue === key,
    stop: () => agentEnds.abort(),
    takeResult() {
      if (!current || !result) return undefined;
      const ended = { progress: current, result };
      [current, result] = [undefined, undefined];
      return ended;
    },
  };
}
