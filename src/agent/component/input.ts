/** Defines the input of the planner of one component. */
import type { ComponentDrift } from '../journal/drift.ts';
import type { ComponentProgress } from '../journal/progress.ts';
import type { TransitionFailure } from '../journal/record.ts';
import type { Target } from '../target/target.ts';
import type { SelfObservation } from '../upgrade/self.ts';
import type { AuthoritiesChange } from './drift/trust.ts';
import type { ComponentObservation } from './observe.ts';

export interface ComponentInput {
  readonly component: string;
  readonly desired: DesiredComponent;
  readonly progress: ComponentProgress;
  /** The stored targets by id. */
  readonly targets: ReadonlyMap<string, Target>;
  readonly observed: ComponentObservation;
  readonly drift: ComponentDrift;
  readonly now: Date;
  readonly brakes: ActivationBrakes;
  /** The other components of this machine. */
  readonly others: ReadonlyMap<string, OtherComponent>;
  /** The failure of the last operation of the current step. */
  readonly failure?: OperationFailure;
  /** The key of the step of a repair job that asks to install the version in force again. */
  readonly reinstall?: string;
  /** The name of another component that is between two versions. */
  readonly changing?: string;
  /** The observation of the agent itself, only for the component that is this agent, where it can be replaced. */
  readonly self?: SelfObservation;
  /** The SHA-256 of each artifact that is being downloaded beside the loop. */
  readonly downloading?: ReadonlySet<string>;
  /** The result of the probes; absent until a probe ran after the last start. */
  readonly probation?: ProbationProgress;
}

export type DesiredComponent =
  | {
      readonly state: 'Present';
      readonly target: Target;
      readonly grant?: EntryGrant;
      /** Set where a first version that the host runs already is adopted without a restart. Adopt leaves a host that differs alone. */
      readonly existingNode?: 'Adopt' | 'Converge';
    }
  | { readonly state: 'Absent'; readonly id: string; readonly grant?: EntryGrant }
  /** The entry was removed from the Machine. */
  | { readonly state: 'Orphaned' }
  | { readonly state: 'Invalid'; readonly message: string };

export interface EntryGrant {
  readonly id: string;
  readonly entryDigest: string;
  /** Whether the grant has expired by the wall clock or by the time since it was received, whichever is earlier. */
  readonly expired: boolean;
}

export interface ActivationBrakes {
  readonly hold: 'None' | 'Disruptive' | 'All';
  /** Whether the API server answered recently. */
  readonly online: boolean;
  /** Whether a repair job runs on this machine. */
  readonly jobRunning: boolean;
  /** The id of the grant for which the machine is drained. */
  readonly drainedFor?: string;
  /** The time since which the machine has no Node, although none was to be removed; absent where that is not known. */
  readonly nodeMissingSince?: Date;
  /** The last change of the authorities that the kubelet trusts; absent where none was followed. */
  readonly authorities?: AuthoritiesChange;
}

export interface OtherComponent {
  /** The committed version. Undefined: the component is not installed, or a transition has begun and not ended. */
  readonly committedVersion?: string;
  readonly dependsOn: readonly string[];
}

export interface OperationFailure extends TransitionFailure {
  /** The time before which it is not tried again; the delay grows with each failure. */
  readonly retryAt: Date;
}

/** Holds what the probes found since the units were started. Durations are by the monotonic clock. */
export interface ProbationProgress {
  readonly elapsedMs: number;
  /** The time for which every probe has succeeded without interruption; absent while one does not. */
  readonly passingMs?: number;
  /** The probe that failed as often as its threshold after it had passed, or the unit that ended. */
  readonly failure?: TransitionFailure;
  /** The probes that have not succeeded yet, with their last answer. */
  readonly pending: readonly string[];
}
