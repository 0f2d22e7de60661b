/** In which order the machines of one batch start, so that a batch meets every kind of machine early. Pure, but for its memory. */
import type { Rollout } from '../../../../api/generated/types.ts';
import { isAvailable, type MemberState } from '../../machine/member-state.ts';
import { machineKind } from '../../machine/traits.ts';

export interface RepresentedBatch extends Pick<Rollout, 'preferUnhealthy'> {
  /** The machines that the batch has started already: their kinds need no representative. */
  readonly started: readonly MemberState[];
  /** The number of machines of each kind. With it, no more machines are read than needed. */
  readonly kinds?: ReadonlyMap<string, number>;
}

/**
 * Yields first one machine of each kind that the batch has not started yet, then the others, both in the order in which they are given.
 * Where the set prefers machines that do not serve, they stay before those that do.
 */
export function* representativesFirst(
  ordered: readonly MemberState[],
  { preferUnhealthy, started, kinds }: RepresentedBatch,
): Generator<MemberState> {
  const met = new Set(started.map(kindOf));
  const missing = kinds && new Set([...kinds.keys()].filter((kind) => !met.has(kind)));
  const serving = preferUnhealthy ? ordered.findIndex(isAvailable) : 0;
  const split = serving < 0 ? ordered.length : serving;
  yield* byKind(ordered, { from: 0, to: split, met, missing });
  yield* byKind(ordered, { from: split, to: ordered.length, met, missing });
}

interface Section {
  readonly from: number;
  readonly to: number;
  readonly met: Set<string>;
  /** The kinds that are not met yet. Undefined: not counted. */
  readonly missing: Set<string> | undefined;
}

function* byKind(
  ordered: readonly MemberState[],
  { from, to, met, missing }: Section,
): Generator<MemberState> {
  const others: MemberState[] = [];
  let index = from;
  for (const member of section(ordered, from, to)) {
    if (missing?.size === 0) break;
    index += 1;
    const kind = kindOf(member);
    if (met.has(kind)) others.push(member);
    else {
      met.add(kind);
      missing?.delete(kind);
      yield member;
    }
  }
  yield* others;
  yield* section(ordered, index, to);
}

/** Yields from a list without a copy of it. */
function* section<T>(list: readonly T[], from: number, to: number): Generator<T> {
  for (let index = from; index < to; index += 1) yield list[index] as T;
}

export function countKinds(members: readonly MemberState[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of members.map(kindOf)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** Takes machines out of the counts. */
export function uncountKinds(counts: Map<string, number>, members: readonly MemberState[]): void {
  for (const kind of members.map(kindOf)) {
    const left = (counts.get(kind) ?? 0) - 1;
    if (left > 0) counts.set(kind, left);
    else counts.delete(kind);
  }
}

/** The state of a machine never changes in place. */
const known = new WeakMap<MemberState, string>();

function kindOf(member: MemberState): string {
  const kind = known.get(member) ?? machineKind(member);
  known.set(member, kind);
  return kind;
}
