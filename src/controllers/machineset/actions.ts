/** Describes what a plan of a set consists of. */
import type { Machine } from '../../api/generated/types.ts';
import type { GrantRenewal } from '../../api/grants.ts';
import type { Member } from './members.ts';
import type { StormFinding } from './storm-guard.ts';

export type MachineSetAction = { readonly because: string } & (
  | { readonly type: 'Adopt' | 'Release' | 'Update'; readonly name: string; readonly machine: Machine }
  | { readonly type: 'Create'; readonly name: string; readonly zone: string | undefined }
  /** Deletes a machine, and only with a grant: that of the job that replaces it, or one of the set. */
  | {
      readonly type: 'Delete';
      readonly name: string;
      readonly machine: Machine;
      readonly node?: string;
      readonly grant?: Pick<GrantRenewal, 'id' | 'fence'>;
    }
);

export interface SetWait {
  readonly reason: string;
  readonly message: string;
  readonly blocker?: { readonly kind: string; readonly name: string };
  readonly until?: Date;
}

/** Machines that are replaced next. No act begins before the status shows them. */
export interface PlannedReplacement {
  readonly names: readonly string[];
  readonly because: string;
  readonly isAnnounced: boolean;
}

export interface MachineSetPlan {
  readonly actions: readonly MachineSetAction[];
  readonly replacement?: PlannedReplacement;
  /** The machines of the set, sorted by name; with those that are adopted now. */
  readonly members: readonly Member[];
  readonly storm?: StormFinding;
  /** Why machines are not created or deleted, though the count differs. */
  readonly wait?: SetWait;
  /** Whether nothing is left of a set that is deleted. */
  readonly isFinished: boolean;
}
