/** Limits how many machines may be out of service, and picks the ones that are started with what is left. Pure. */
import type { Rollout } from '../../../api/generated/types.ts';
import { resolveIntOrPercent } from '../../../rollout/int-or-percent.ts';
import type { Limit } from '../../../rollout/limit.ts';
import { isAvailable, type MemberState } from '../machine/member-state.ts';

/**
 * Returns how many more machines may be taken out of service. Every machine that was ever in service and is not now counts,
 * whatever the cause.
 */
export function availabilityLimit(
  { maxUnavailable }: Pick<Rollout, 'maxUnavailable'>,
  members: readonly MemberState[],
): Limit {
  const unavailable = members.filter((member) => !isAvailable(member) && member.isEstablished);
  const most = resolveIntOrPercent(maxUnavailable, members.length);
  const [first] = unavailable;
  return {
    slots: most - unavailable.length,
    reason: 'TooManyUnavailable',
    because: `machines unavailable: ${unavailable.length}, allowed: ${most}`,
    ...(first && { blocker: { kind: 'Machine', name: first.name } }),
  };
}

export interface Picked {
  readonly members: readonly MemberState[];
  /** The slots that are left of the limit. */
  readonly available: number;
}

/**
 * Picks machines in their order. A machine that does not serve costs no availability, so it goes even when nothing is left:
 * where the set prefers that. Otherwise it waits like those that serve, unless it has never served.
 */
export function pickMembers(
  candidates: readonly MemberState[],
  most: number,
  available: number,
  { preferUnhealthy }: Pick<Rollout, 'preferUnhealthy'> = { preferUnhealthy: true },
): Picked {
  const members: MemberState[] = [];
  let left = available;
  for (const member of candidates) {
    if (members.length >= most) break;
    if (left <= 0 && waitsForSlot(member, preferUnhealthy)) continue;
    if (isAvailable(member)) left -= 1;
    members.push(member);
  }
  return { members, available: left };
}

function waitsForSlot(member: MemberState, preferUnhealthy: boolean): boolean {
  return isAvailable(member) || (!preferUnhealthy && member.isEstablished);
}
