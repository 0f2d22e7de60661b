/** Describes what a plan of a set consists of. */
import type { Machine } from '../../api/generated/types.ts';
import type { Member } from './members.ts';
import type { StormFinding } from './storm-guard.ts';

export type MachineSetAction = { readonly because: string } & (
  | { readonly type: 'Adopt' | 'Release' | 'Update'; readonly name: string; readonly machine: Machine }
  | { readonly type: 'Create'; readonly name: string; readonly zone: string | undefined }
  /** Deletes a machine, and only with a grant. */
  | { readonly type: 'Delete'; readonly name: string; readonly machine: Machine; readonly node?: string }
);

export interface SetWait {
  readonly reason: string;
  readonly message: string;
  readonly blocker?: { readonly kind: string; readonly name: string };
  readonly until?: Date;
}

export interface MachineSetPlan {
  readonly actions: readonly MachineSetAction[];
  /** The machines of the set, sorted by name; with those that are adopted now. */
  readonly members: readonly Member[];
  readonly storm?: StormFinding;
  /** Why machines are not created or deleted, though the count differs. */
  readonly wait?: SetWait;
  /** Whether nothing is left of a set that is deleted. */
  readonly isFinished: boolean;
}
