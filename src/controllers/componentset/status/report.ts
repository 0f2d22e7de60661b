/** Describes what the status of a set is made of. Types only. */
import type { GateRuns } from '../../../api/generated/types.ts';
import type { Denial } from '../../../api/grants.ts';
import type { MachineConflict } from '../members/membership.ts';
import type { RolloutInput, RolloutPlan } from '../rollout/input.ts';

export interface SetReport {
  /** `set.status` of it is the status before. */
  readonly input: RolloutInput;
  readonly plan: RolloutPlan;
  /** Answers of the Defender to the actions of the plan. Empty before they were asked for. */
  readonly denials: readonly DeniedMachine[];
  /** Machines that another set selects, too. */
  readonly conflicts: readonly MachineConflict[];
  /** Runs of the checks of the open batch. */
  readonly runs: readonly GateRuns[];
}

export interface DeniedMachine {
  readonly machine: string;
  readonly denial: Denial;
}
