/** How many machines each batch of a rollout has. Pure. */
import type { Rollout } from '../../api/generated/types.ts';
import { resolveIntOrPercent } from '../../rollout/int-or-percent.ts';

export type BatchList = Pick<Rollout, 'batches' | 'repeatLast' | 'canary'>;

export interface BatchMachines {
  /** That were selected when the rollout started: percentages are of them. */
  readonly total: number;
  /** That are in no batch yet. */
  readonly left: number;
  /** Of those that are left, the ones that the selector of the canary matches. */
  readonly canaries: number;
}

/** With a canary, batch 0 is the canary and the list follows it. Only a canary that matches no machine is empty. */
export function batchSize(list: BatchList, index: number, { total, left, canaries }: BatchMachines): number {
  const { batches, repeatLast, canary } = list;
  if (canary && index === 0) return Math.min(canary.count, canaries, left);
  const listed = batches[canary ? index - 1 : index] ?? (repeatLast ? batches.at(-1) : undefined);
  if (listed === undefined) return left;
  return Math.min(left, Math.max(1, resolveIntOrPercent(listed, total)));
}

/** The batches of a rollout that begins now, as far as `most`, if no machine joins, leaves or fails. */
export function plannedSizes(
  list: BatchList,
  machines: Pick<BatchMachines, 'total' | 'canaries'>,
  most: number,
): readonly number[] {
  const sizes: number[] = [];
  for (let left = machines.total; left > 0 && sizes.length < most; left -= sizes.at(-1) ?? 0) {
    sizes.push(batchSize(list, sizes.length, { ...machines, left }));
  }
  return sizes;
}
