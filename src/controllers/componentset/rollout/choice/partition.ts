/** Keeps a part of the machines at the revision that they have. Pure. */
import { resolveIntOrPercent } from '../../../../rollout/int-or-percent.ts';
import { type Limit, UNLIMITED } from '../../../../rollout/limit.ts';
import type { Revision } from '../../revision/resolve.ts';
import type { RolloutInput, RolloutMode } from '../input.ts';
import { isPinned } from '../start-wait.ts';

export interface PartitionLimit extends Limit {
  /** The number of machines that the partition keeps now: while there are any, the rollout is not at its end. */
  readonly kept: number;
}

export interface PartitionContext {
  readonly mode: RolloutMode;
  readonly revision: Revision;
  /** Machines that are given a revision outside of the batches now. */
  readonly joining: ReadonlySet<string>;
}

/**
 * Returns how many more machines may get the revision. Each machine without it counts as kept, also one that a person holds: it does not go on
 * by its release. Machines go back without a limit.
 */
export function partitionLimit(
  { set, members }: Pick<RolloutInput, 'set' | 'members'>,
  { mode, revision, joining }: PartitionContext,
): PartitionLimit {
  const most = resolveIntOrPercent(set.spec.rollout.partition, members.length);
  if (mode !== 'Forward' || most === 0) return { ...UNLIMITED, kept: 0 };
  const others = members.filter(
    (member) => member.revision !== revision.name && !joining.has(member.name) && !isPinned(member, revision),
  ).length;
  const kept = Math.min(others, most);
  return {
    kept,
    slots: others - most,
    reason: 'HeldByPartition',
    because: `${kept} ${kept === 1 ? 'machine' : 'machines'} held by partition`,
  };
}
