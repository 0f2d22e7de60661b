/** Defines the input of the planner of repair jobs. */
import type { JobRelease, JobStep, RemedyOperationJob } from '../../api/generated/types.ts';
import type { JobStepProgress, JobsState } from '../journal/jobs.ts';
import type { StepOfAgent } from './step-table.ts';

export interface JobsInput {
  /** The machine of this host. */
  readonly machine: { readonly name: string; readonly uid: string };
  /** The jobs of this machine, as the watch last delivered them. */
  readonly jobs: readonly RemedyOperationJob[];
  readonly journal: JobsState;
  readonly facts: JobFacts;
  readonly now: Date;
}

/** Holds what the agent observes when it decides. Undefined always stands for: not known now. */
export interface JobFacts {
  /** Whether the API server answered recently: jobs are current, and contain every cancel. */
  readonly online: boolean;
  readonly bootId: string;
  readonly nodeUid: string | undefined;
  /** The skew of this clock against the API server. */
  readonly skewMs: number | undefined;
  readonly hold: 'None' | 'Disruptive' | 'All';
  /** The highest fence of the grants in the entries of the Machine. */
  readonly entryFence: number;
  /** Tells whether the release has ended, by this clock or by the time since it was received. */
  readonly isExpired: (job: RemedyOperationJob, release: JobRelease) => boolean;
  /** The component that is between two versions, which is not a safe point. */
  readonly changing: string | undefined;
  /** Whether an act that did not end within its time still works on the host. */
  readonly busy: boolean;
  /** The reasons why this host does not carry steps out, by key of the step. */
  readonly problems: ReadonlyMap<string, StepProblem>;
  /** The observation of the begun step: absent while this process carries it out. */
  readonly observed?: StepObservation;
}

export interface StepProblem {
  readonly code: string;
  readonly message: string;
}

/** Holds what the host shows of a step that was begun and has no result. */
export interface StepObservation {
  readonly happened:
    | 'Yes'
    | 'Failed'
    | 'No'
    /** A part of it happened: the rest can be done without repeating anything. */
    | 'Partly'
    /** The loop of the agent carries it out, and brings it to an end. */
    | 'Continues'
    /** The loop of the agent has not begun it. */
    | 'Waits'
    /** The host does not show it. */
    | 'Unknown';
  readonly message: string;
  readonly code?: string;
  /** Whether its time is over, by the clock of this process. */
  readonly timedOut: boolean;
}

/** Holds a release with the step that it names, checked and ready to begin. */
export interface ReleasedStep {
  readonly job: RemedyOperationJob;
  readonly release: JobRelease;
  readonly plan: JobStep;
  readonly action: StepOfAgent;
}

export type JobAct =
  | { readonly type: 'Begin'; readonly step: ReleasedStep; readonly because: string }
  | {
      readonly type: 'Refuse';
      readonly job: RemedyOperationJob;
      readonly release: JobRelease;
      readonly code: string;
      readonly because: string;
    }
  /** Carries out the rest of a begun step. */
  | { readonly type: 'Resume'; readonly progress: JobStepProgress; readonly because: string }
  /** Records the result of a begun step that the host shows. */
  | {
      readonly type: 'End';
      readonly progress: JobStepProgress;
      readonly state: 'Succeeded' | 'Failed' | 'Ambiguous';
      readonly code?: string;
      readonly because: string;
    };

/** The reason why a released step does not begin yet. */
export interface JobWait {
  readonly job: RemedyOperationJob;
  readonly release: JobRelease;
  readonly code: JobWaitCode;
  readonly because: string;
}

export type JobWaitCode =
  | 'Offline'
  | 'ClockUnknown'
  | 'NodeUnknown'
  /** A component is between two versions. */
  | 'ComponentChanging'
  /** Another step was begun and has no result. */
  | 'StepRunning';

export interface JobsPlan {
  /** The act of this reconcile, at most one: the next reconcile decides on the others. */
  readonly act?: JobAct;
  readonly waits: readonly JobWait[];
}
