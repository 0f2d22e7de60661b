/** The input of the planner of one component. */
import type { ComponentDrift } from '../journal/drift.ts';
import type { ComponentProgress } from '../journal/progress.ts';
import type { TransitionFailure } from '../journal/record.ts';
import type { Target } from '../target/target.ts';
import type { SelfObservation } from '../upgrade/self.ts';
import type { ComponentObservation } from './observe.ts';

export interface ComponentInput {
  readonly component: string;
  readonly desired: DesiredComponent;
  readonly progress: ComponentProgress;
  /** Stored targets by id. */
  readonly targets: ReadonlyMap<string, Target>;
  readonly observed: ComponentObservation;
  readonly drift: ComponentDrift;
  readonly now: Date;
  readonly brakes: ActivationBrakes;
  /** The other components of this machine. */
  readonly others: ReadonlyMap<string, OtherComponent>;
  /** Why the last operation of the current step failed. */
  readonly failure?: OperationFailure;
  /** Key of the step of a repair job that asks to install the version in force again. */
  readonly reinstall?: string;
  /** Another component that is between two versions. */
  readonly changing?: string;
  /** Of the component that is this agent, where it can be replaced. */
  readonly self?: SelfObservation;
  /** SHA-256 of artifacts that are being downloaded beside the loop. */
  readonly downloading?: ReadonlySet<string>;
  /** Absent until a probe ran after the last start. */
  readonly probation?: ProbationProgress;
}

export type DesiredComponent =
  | { readonly state: 'Present'; readonly target: Target; readonly grant?: EntryGrant }
  | { readonly state: 'Absent'; readonly id: string; readonly grant?: EntryGrant }
  /** The entry was removed from the Machine. */
  | { readonly state: 'Orphaned' }
  | { readonly state: 'Invalid'; readonly message: string };

export interface EntryGrant {
  readonly id: string;
  readonly entryDigest: string;
  /** By the wall clock or by the time since it was received, whichever is earlier. */
  readonly expired: boolean;
}

export interface ActivationBrakes {
  readonly hold: 'None' | 'Disruptive' | 'All';
  /** The API server answered recently. */
  readonly online: boolean;
  /** A repair job runs on this machine. */
  readonly jobRunning: boolean;
  /** Id of the grant for which the machine is drained. */
  readonly drainedFor?: string;
  /** Since when the machine has no Node, although none was to be removed; absent where that is not known. */
  readonly nodeMissingSince?: Date;
}

export interface OtherComponent {
  /** Undefined: not installed, or a transition has begun and not ended. */
  readonly committedVersion?: string;
  readonly dependsOn: readonly string[];
}

export interface OperationFailure extends TransitionFailure {
  /** Not before this time; the delay grows with each failure. */
  readonly retryAt: Date;
}

/** What the probes found since the units were started. Durations by the monotonic clock. */
export interface ProbationProgress {
  readonly elapsedMs: number;
  /** Time since when every probe passes without interruption; absent while one does not. */
  readonly passingMs?: number;
  /** The probe that failed as often as its threshold after it had passed, or the unit that ended. */
  readonly failure?: TransitionFailure;
  /** Probes that have not passed yet, with their last answer. */
  readonly pending: readonly string[];
}
