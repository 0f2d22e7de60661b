/**
 * Which batch follows the open one, and how many machines it has. A revision that comes back has machines already: an edit replaced
 * it in the middle of its rollout, and a further edit asks for it again. They prove nothing before their batches have soaked. Pure.
 */
import { isSelected } from '../../../kube/objects/selector.ts';
import type { MemberState } from '../machine/member-state.ts';
import type { Revision } from '../revision/resolve.ts';
import { batchSize } from './batch-size.ts';
import type { OpenBatch, RolloutInput, RolloutMode } from './input.ts';

/** By the index of the batch: machines that were given the revision in it before it was opened. */
export type EarlierMachines = ReadonlyMap<number, number>;

export interface RemainingMachines {
  /** Machines that are not at the revision. */
  readonly todo: readonly MemberState[];
  readonly earlier: EarlierMachines;
  /** How many of them a partition lets go on. Default: all. */
  readonly slots?: number;
}

export interface NextBatch extends Pick<OpenBatch, 'index' | 'size' | 'total'> {
  /** Machines of the batch that have the revision already. */
  readonly earlier: number;
}

/** Counts nothing in a revert: a revision that completed was proven by its batches. */
export function countEarlier(
  { members }: Pick<RolloutInput, 'members'>,
  { name }: Pick<Revision, 'name'>,
  mode: RolloutMode,
): EarlierMachines {
  const earlier = new Map<number, number>();
  if (mode !== 'Forward') return earlier;
  for (const { revision, batch } of members) {
    if (revision === name && batch !== undefined) earlier.set(batch, (earlier.get(batch) ?? 0) + 1);
  }
  return earlier;
}

/** Undefined: no machine is left, and no batch after the open one has any. */
export function nextBatch(
  { set, members }: Pick<RolloutInput, 'set' | 'members'>,
  open: OpenBatch | undefined,
  { todo, earlier, slots = todo.length }: RemainingMachines,
): NextBatch | undefined {
  const left = Math.max(0, Math.min(todo.length, slots));
  const canaries = open ? 0 : canariesOf({ set }, { todo, earlier });
  const later = [...earlier.keys()].filter((each) => each > (open?.index ?? -1));
  const index = left > 0 ? indexAfter({ set }, open, canaries) : Math.min(...later);
  if (!Number.isFinite(index)) return undefined;
  const total = open?.total ?? members.length;
  const its = earlier.get(index) ?? 0;
  const size = batchSize(set.spec.rollout, index, { total, left: left + its, canaries });
  return { index, size: Math.max(size, its), total, earlier: its };
}

/** A canary whose selector matches no machine has no batch. */
function indexAfter(
  { set }: Pick<RolloutInput, 'set'>,
  open: OpenBatch | undefined,
  canaries: number,
): number {
  if (open) return open.index + 1;
  return set.spec.rollout.canary && canaries === 0 ? 1 : 0;
}

/** Machines of the canary: those that may still be given the revision, and those that have it. */
export function canariesOf(input: Pick<RolloutInput, 'set'>, { todo, earlier }: RemainingMachines): number {
  return todo.filter((each) => mayBeIn(input, 0, each)).length + (earlier.get(0) ?? 0);
}

/** Batch 0 is for the machines of the canary. */
export function mayBeIn(
  { set }: Pick<RolloutInput, 'set'>,
  index: number | undefined,
  { machine }: MemberState,
): boolean {
  const { canary } = set.spec.rollout;
  if (index !== 0 || !canary?.machineSelector) return true;
  return isSelected(canary.machineSelector, machine.metadata.labels ?? {});
}

export function hasCanary({ set }: Pick<RolloutInput, 'set'>): boolean {
  return set.spec.rollout.canary?.machineSelector !== undefined;
}
