/** Finds the machines that a rollout would leave out, as long as nothing changes for them. Pure. */
import type { Explanation } from '../../../rollout/explanation.ts';
import type { MemberState } from '../machine/member-state.ts';
import { partitionLimit } from '../rollout/choice/partition.ts';
import type { BatchContext } from '../rollout/forward.ts';
import type { RolloutInput } from '../rollout/input.ts';

export interface StartableMachines {
  /** Machines that batches give the revision to, or would without a partition. */
  readonly startable: readonly MemberState[];
  /** How many of them a partition lets go on. */
  readonly slots: number;
  /** Why the others keep what they have. */
  readonly holds: readonly Explanation[];
}

export function findStartable(
  input: RolloutInput,
  todo: readonly MemberState[],
  context: Pick<BatchContext, 'mode' | 'revision' | 'joining'>,
): StartableMachines {
  const { mode, revision } = context;
  const waits = new Map(
    todo.flatMap((member) => {
      const wait = mode === 'Forward' ? input.compatOf?.(member, revision) : undefined;
      return wait ? [[member, wait] as const] : [];
    }),
  );
  const { slots, kept, reason, because } = partitionLimit(input, context);
  const partition = kept > 0 ? [{ reason, because }] : [];
  return {
    startable: todo.filter((member) => !waits.has(member)),
    slots,
    holds: [...partition, ...waits.values()],
  };
}
