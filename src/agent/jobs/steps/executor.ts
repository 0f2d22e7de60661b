/** Defines how one kind of step is carried out on a host, and how the host shows that it already happened. */
import type { StepInputs } from '../../../api/generated/steps.ts';
import type { Step } from '../../../api/steps/steps.ts';
import type { Clock } from '../../../os/clock.ts';
import type { Host, UnitDefinition } from '../../host/port.ts';
import type { JobStepProgress } from '../../journal/jobs.ts';
import type { JournalState } from '../../journal/progress.ts';
import type { JobsConfig } from '../config.ts';
import type { StepObservation, StepProblem } from '../input.ts';

export interface StepContext {
  readonly host: Host;
  readonly clock: Clock;
  readonly config: JobsConfig;
  readonly journal: JournalState;
}

export interface StepRun {
  /** The name of this try: files of it get this name. */
  readonly name: string;
  /** The text that `before` returned. */
  readonly before: string | undefined;
  readonly timeoutMs: number;
  /** The signal that aborts when the time is over. */
  readonly signal: AbortSignal;
}

export interface StepResult {
  /** Ambiguous: it may have happened, or may still happen. */
  readonly state: 'Succeeded' | 'Failed' | 'Ambiguous';
  readonly code?: string;
  readonly message: string;
  readonly output?: string;
}

export type StepEvidence = Omit<StepObservation, 'timedOut'>;

export interface StepExecutor<S extends Step = Step> {
  /** Returns why this host does not carry the step out. It is asked before anything is recorded. */
  problem(context: StepContext, input: StepInputs[S]): Promise<StepProblem | undefined>;
  /** Returns what the host has before the step, which is recorded with the begin. */
  before?(context: StepContext, input: StepInputs[S]): Promise<string | undefined>;
  /**
   * Does what is left of the step: what `before` shows to be done already is not repeated. Absent when the loop of the agent carries it
   * out.
   */
  execute?(context: StepContext, input: StepInputs[S], run: StepRun): Promise<StepResult>;
  /** Observes a step that was begun by an agent process that has ended, or that did not end within its time. */
  observe(context: StepContext, progress: JobStepProgress): Promise<StepEvidence>;
}

export function succeededStep(message: string, output?: string): StepResult {
  return { state: 'Succeeded', message, ...(output !== undefined && { output }) };
}

export function failedStep(code: string, message: string, output?: string): StepResult {
  return { state: 'Failed', code, message, ...(output !== undefined && { output }) };
}

/** Names a unit of the host, also one that no component defines. */
export function unitNamed(name: string): UnitDefinition {
  return {
    name,
    component: '',
    type: 'Service',
    enabled: true,
    running: true,
    timeoutSeconds: 300,
    restart: { policy: 'Never', delaySeconds: 0, maxPerMinute: 0 },
    stop: { signal: 'TERM', timeoutSeconds: 90 },
    existing: true,
    dropIns: [],
  };
}
