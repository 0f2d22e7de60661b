/** Limits how many machines may be out of service, and picks the ones that are started with what is left. Pure. */
import type { Rollout } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import { resolveIntOrPercent } from '../../../rollout/int-or-percent.ts';
import type { Limit } from '../../../rollout/limit.ts';
import { isAvailable, type MemberState } from '../machine/member-state.ts';
import { type SpreadUse, spreadWait, withInWork } from './choice/spread.ts';

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
  /** Why the first machine that is passed over for its domain waits. */
  readonly spread?: Explanation;
}

export interface PickRules extends Pick<Rollout, 'preferUnhealthy'> {
  /** Undefined: domains do not limit. */
  readonly spread?: SpreadUse | undefined;
  /** Tells for which machines domains do not limit. Default: none. */
  readonly ignoresSpread?: (member: MemberState) => boolean;
}

/**
 * Picks machines in their order. A machine that does not serve costs no availability, so it goes even when nothing is left:
 * where the set prefers that. Otherwise it waits like those that serve, unless it has never served.
 */
export function pickMembers(
  candidates: Iterable<MemberState>,
  most: number,
  available: number,
  rules: PickRules = { preferUnhealthy: true },
): Picked {
  const members: MemberState[] = [];
  const passedOver: Explanation[] = [];
  let [left, use] = [available, rules.spread];
  for (const member of candidates) {
    if (members.length >= most) break;
    const wait = pickWait(member, { left, use }, rules);
    if (wait) {
      passedOver.push(wait);
      continue;
    }
    left -= Number(isAvailable(member));
    use = use && withInWork(use, [member]);
    members.push(member);
  }
  const spread = passedOver.find((wait) => wait !== NO_SLOT);
  return { members, available: left, ...optional('spread', spread) };
}

/** Why a machine is passed over that would cost availability. The limit of the caller explains it. */
const NO_SLOT: Explanation = { reason: 'TooManyUnavailable', because: 'no slot is left' };

interface LeftSlots {
  readonly left: number;
  readonly use: SpreadUse | undefined;
}

function pickWait(
  member: MemberState,
  { left, use }: LeftSlots,
  { preferUnhealthy, ignoresSpread }: PickRules,
): Explanation | undefined {
  if (left <= 0 && waitsForSlot(member, preferUnhealthy)) return NO_SLOT;
  return use && ignoresSpread?.(member) !== true ? spreadWait(use, member) : undefined;
}

function waitsForSlot(member: MemberState, preferUnhealthy: boolean): boolean {
  return isAvailable(member) || (!preferUnhealthy && member.isEstablished);
}
