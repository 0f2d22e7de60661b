/** Decides how many machines each batch of a rollout has. Pure. */
import type { Rollout } from '../../../api/generated/types.ts';
import { resolveIntOrPercent } from '../../../rollout/int-or-percent.ts';

export type BatchList = Pick<Rollout, 'batches' | 'repeatLast' | 'canary'>;

export interface BatchMachines {
  /** The number of machines that were selected when the rollout started: percentages are of them. */
  readonly total: number;
  /** The number of machines that are in no batch yet. */
  readonly left: number;
  /** The number of machines in no batch yet that the selector of the canary matches. */
  readonly canaries: number;
}

/**
 * Returns the size of a batch. With a canary, batch 0 is the canary and the list follows it. Only a canary that matches no
 * machine is empty.
 */
export function batchSize(list: BatchList, index: number, { total, left, canaries }: BatchMachines): number {
  const { batches, repeatLast, canary } = list;
  if (canary && index === 0) return Math.min(canary.count, canaries, left);
  const listed = batches[canary ? index - 1 : index] ?? (repeatLast ? batches.at(-1) : undefined);
  if (listed === undefined) return left;
  return Math.min(left, Math.max(1, resolveIntOrPercent(listed, total)));
}

export interface PlannedMachines extends Pick<BatchMachines, 'total' | 'canaries'> {
  /** Default: all. */
  readonly left?: number;
  /** Index of the first batch to plan; default: 0. */
  readonly first?: number;
}

/** Returns the sizes of at most `most` batches from the first one on, if no machine joins, leaves or fails. */
export function plannedSizes(
  list: BatchList,
  { total, canaries, left: atStart = total, first = 0 }: PlannedMachines,
  most: number,
): readonly number[] {
  const sizes: number[] = [];
  for (let left = atStart; left > 0 && sizes.length < most; left -= sizes.at(-1) ?? 0) {
    sizes.push(batchSize(list, first + sizes.length, { total, canaries, left }));
  }
  return sizes;
}
