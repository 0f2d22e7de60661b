/** Describes what the planner of a rollout reads, and its answer. Types only. */
import type { ActivationClass } from '../../../api/enums.ts';
import type {
  Check,
  GateRuns,
  LedgerGrant,
  MachineComponentSet,
  RolloutClosedTimes,
  RolloutGateInForce,
} from '../../../api/generated/types.ts';
import type { GrantOutcome } from '../../../api/grants.ts';
import type { CheckRun } from '../../../rollout/checks/gate.ts';
import type { ComparedMachines } from '../../../rollout/checks/query.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import type { Limit } from '../../../rollout/limit.ts';
import type { CompatRule } from '../compat/rule.ts';
import type { MemberState } from '../machine/member-state.ts';
import type { RevisionHistory } from '../revision/history.ts';
import type { ResolvedRevision, Revision } from '../revision/resolve.ts';
import type { SkewRule } from '../servers/skew.ts';

/** All that a rollout remembers. The machines of a batch are read from their own entries. */
export interface RolloutProgress {
  /** The revision that is rolled out, or was. */
  readonly updateRevision?: string;
  /** When the whole rollout began, not only its open batch. */
  readonly startedAt?: Date;
  /** The commit of the set at that time: later commits may change the set without another revision. */
  readonly commit?: string;
  readonly batch?: OpenBatch;
  readonly history: RevisionHistory;
  /** Since when `spec.paused` was observed. */
  readonly pausedAt?: Date;
  /** The closed times that judge the set. Absent: none do. */
  readonly closedTimes?: RolloutClosedTimes;
  /** The gate that judges the set. Absent: nothing of it was observed yet. */
  readonly gateInForce?: RolloutGateInForce;
  /** Set if the rollout failed and did not go back: a machine that recovers by itself does not resume it. */
  readonly stopped?: StoppedRollout;
}

export interface StoppedRollout extends Pick<Explanation, 'reason' | 'because'> {
  /** The retry token of the set when the rollout stopped. */
  readonly retryToken?: string;
}

export interface OpenBatch {
  readonly index: number;
  readonly size: number;
  /** Machines that were selected when the rollout began: percentages are of them. */
  readonly total: number;
  readonly startedAt: Date;
  /** Set once every machine of the batch is settled. */
  readonly soakUntil?: Date;
  /** When that was. Runs of checks that began before do not count. */
  readonly settledAt?: Date;
  /** Runs of the http and promql checks. */
  readonly gates?: readonly GateRuns[];
  /** Runs of the builtin check that found its health unknown, and when the last one did. */
  readonly inconclusive?: number;
  readonly inconclusiveAt?: Date;
}

export interface RolloutInput {
  readonly set: MachineComponentSet;
  readonly desired: ResolvedRevision;
  /** The last revision that completed, from its ControllerRevision. Undefined: none has. */
  readonly stable?: Revision;
  readonly progress: RolloutProgress;
  /** The machines that the set acts on, in any order. */
  readonly members: readonly MemberState[];
  /** The machines that the set acted on, and no longer does. */
  readonly left: readonly MemberState[];
  /** Grants of the set for machines that were deleted. */
  readonly deleted: readonly { readonly machine: string; readonly grant: LedgerGrant }[];
  /** Runs of the http and promql checks that are not recorded yet. */
  readonly runs: readonly CheckRun[];
  readonly classOf: (member: MemberState, to: Revision) => ActivationClass;
  /** Default: none of the components is a kubelet. */
  readonly skewOf?: SkewRule;
  /** Default: no component limits where it runs. */
  readonly compatOf?: CompatRule;
  readonly now: Date;
}

export interface RolloutPlan {
  /** The progress that is to be written before any other action if it differs from what was read. */
  readonly progress: RolloutProgress;
  readonly mode: RolloutMode;
  /** The actions, in the order in which they are carried out. */
  readonly actions: readonly RolloutAction[];
  /** Why no further machine is started now. */
  readonly limit: Limit;
  /** The checks that run now, after the actions. They only watch. */
  readonly checks: PlannedChecks;
  /** Why each machine waits that is not settled at its revision: exactly one reason for each. */
  readonly waiting: ReadonlyMap<string, Explanation>;
}

export interface DueBatchCheck {
  readonly check: Check;
  /** The last run that is recorded, or a moment before the first one could begin. */
  readonly known: Date;
}

export interface PlannedChecks {
  /** The checks that run now. */
  readonly due: readonly DueBatchCheck[];
  /** The machines that their queries may name. */
  readonly machines: ComparedMachines;
  /** When the next check is due. */
  readonly nextAt?: Date;
}

/**
 * Blocked: the revision cannot be resolved. Steady: every machine has had it. Forward: batches with gates. Revert: batches without
 * soak, to a revision that completed before. RollingBack: the machines of a bad revision go back. Refused: that has happened.
 */
export type RolloutMode = 'Blocked' | 'Steady' | 'Forward' | 'Revert' | 'RollingBack' | 'Refused';

export type RolloutAction = { readonly because: string } & (
  | { readonly type: 'Persist'; readonly progress: RolloutProgress }
  /** Asks for a grant, or renews the one that the machine has; then gives it the entries of the revision with that grant. */
  | {
      readonly type: 'Assign';
      readonly member: MemberState;
      readonly revision: Revision;
      /** The index of the batch. Undefined: outside of the batches. */
      readonly batch?: number;
      readonly permission: Permission;
    }
  /** Does the same for the entries that the machine has. */
  | { readonly type: 'Permit'; readonly member: MemberState; readonly permission: Permission }
  /** Takes the grant out of the entries, then settles it. */
  | { readonly type: 'Settle'; readonly member: MemberState; readonly outcome: GrantOutcome }
  | {
      readonly type: 'Release';
      readonly machine: string;
      readonly grant: LedgerGrant;
      readonly outcome: GrantOutcome;
    }
);

export interface Permission {
  readonly by: 'Ask' | 'Renew';
  readonly class: ActivationClass;
  readonly recovery: boolean;
  /** The MachineComponents that are new on the machine; absent: none is. */
  readonly brings?: readonly string[];
  /** Why the change may not be made, whatever the Defender answers. */
  readonly forbidden?: Explanation;
}
