/** Describes what the planner of repair jobs decides: each decision is carried out by execute.ts, and the next reconcile decides again. */

import type {
  JobDrain,
  JobGrantStatus,
  JobOutcome,
  JobRelease,
  JobReplacement,
  JobStep,
  JobStepStatus,
  JobTimeline,
} from '../../../api/generated/types.ts';
import type { GrantOutcome } from '../../../api/grants.ts';
import type { RepairWaitReason } from '../../../api/status/repair-waits.ts';
import type { FoundWait } from '../../../api/status/waiting.ts';
import type { JsonPatchOperation } from '../../../kube/controller/writes/declared-fields.ts';
import type { ConditionUpdate } from '../../../kube/objects/conditions.ts';
import type { PowerRecord } from '../power/power-records.ts';

export interface RepairWait extends FoundWait {
  readonly reason: RepairWaitReason;
  /** Whether something has to change before the job can go on. Otherwise it only takes time. */
  readonly isBlocked?: boolean;
}

/** Holds what changes in the status of the job. What is not named stays; a wait that is not named is over. */
export interface JobChange {
  readonly step?: JobStepStatus;
  readonly undone?: readonly string[];
  /** The release of a step; null withdraws it. */
  readonly release?: JobRelease | null;
  readonly grant?: JobGrantStatus;
  readonly drain?: JobDrain;
  readonly replacement?: JobReplacement;
  readonly outcome?: JobOutcome;
  readonly timeline?: JobTimeline;
  readonly findings?: readonly ConditionUpdate[];
  readonly wait?: RepairWait;
}

export type StepState = JobStepStatus['state'];

export type JobDecision = { readonly because: string } & (
  | { readonly type: 'Nothing' }
  /** The status alone changes, and the job goes on at once. */
  | { readonly type: 'Write'; readonly change: JobChange }
  | { readonly type: 'Wait'; readonly change: JobChange; readonly requeueAt: Date }
  /** A step of the job controller that is recorded. Overdue: it goes on only because a person may still approve. */
  | RunStep
  /** A try of a step for the agent: the record and the release are one write. */
  | ReleaseStep
  | { readonly type: 'AskApproval'; readonly step: JobStep; readonly record: JobStepStatus }
  | { readonly type: 'PatchNode'; readonly operations: readonly JsonPatchOperation[] }
  /** The machine is switched on again, after the outcome. */
  | { readonly type: 'RestorePower'; readonly last: PowerRecord }
  | { readonly type: 'ReportMachine'; readonly needsPerson: ConditionUpdate | undefined }
  | {
      readonly type: 'SettleGrant';
      readonly outcome: GrantOutcome;
      readonly handedOff: boolean;
      readonly change: JobChange;
    }
  | { readonly type: 'RemoveFinalizer' }
);

export interface RunStep {
  readonly type: 'RunStep';
  readonly step: JobStep;
  readonly record: JobStepStatus;
  readonly isOverdue: boolean;
}

export interface ReleaseStep {
  readonly type: 'ReleaseStep';
  readonly step: JobStep;
  readonly record: JobStepStatus;
  /** The ID of the boot in which the step is allowed. */
  readonly bootID: string;
}

export function jobFinding(
  type: string,
  status: ConditionUpdate['status'],
  reason: string,
  message: string,
): ConditionUpdate {
  return { type, status, reason, message };
}
