/** Stops a set while so many of its machines are ill that the cause is hardly in the machines. Pure. */

import type { MachineSet, Storm } from '../../api/generated/types.ts';
import { conditionStatus } from '../../kube/objects/conditions.ts';
import { optional } from '../../kube/objects/optional.ts';
import { secondsAfter } from '../../os/dates.ts';
import { resolveIntOrPercent } from '../../rollout/int-or-percent.ts';
import type { Member } from './members.ts';

export interface StormFinding extends Required<Storm> {
  readonly because: string;
  /** When time alone may end it. */
  readonly until?: Date;
}

/** Returns the storm that stops the set; undefined while the set may act. Machines that are being deleted count neither way. */
export function stormOf(set: MachineSet, members: readonly Member[], now: Date): StormFinding | undefined {
  const { maxUnhealthy, maxUnhealthyInZone } = set.spec.stormGuard;
  const live = members.filter(({ isDeleting }) => !isDeleting);
  const zones = Map.groupBy(
    live.filter(({ zone }) => zone !== undefined),
    ({ zone = '' }) => zone,
  );
  const areas: readonly Area[] = [
    { name: 'the set', members: live, amount: maxUnhealthy },
    ...[...zones]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([zone, inZone]) => ({ name: `zone ${zone}`, members: inZone, amount: maxUnhealthyInZone })),
  ];
  for (const area of areas) {
    const finding = stormIn(area, set, now);
    if (finding) return finding;
  }
  return undefined;
}

interface Area {
  readonly name: string;
  readonly members: readonly Member[];
  readonly amount: MachineSet['spec']['stormGuard']['maxUnhealthy'];
}

function stormIn(area: Area, set: MachineSet, now: Date): StormFinding | undefined {
  const { members, amount } = area;
  const limit = resolveIntOrPercent(amount, members.length);
  const ill = members.filter(isUnhealthy);
  const recovering = isActive(set) ? members.filter((member) => isRecovering(member, set, now)) : [];
  const unhealthy = ill.length + recovering.length;
  if (unhealthy <= limit) return undefined;
  const isThawing = ill.length <= limit;
  const since = isActive(set) ? set.status?.storm?.since : undefined;
  return {
    since: since ?? now.toISOString(),
    reason: isThawing ? 'Thawing' : 'TooManyUnavailable',
    unhealthy,
    limit,
    because: `${unhealthy} of ${members.length} machines of ${area.name} ${stateText(isThawing, set)}; the limit is ${limit}`,
    ...optional('until', firstEnd(recovering, set)),
  };
}

function stateText(isThawing: boolean, { spec: { stormGuard } }: MachineSet): string {
  if (!isThawing) return 'are unhealthy or unknown';
  return `are unhealthy or were within the last ${stormGuard.thawSeconds} s`;
}

/** Tells whether a machine is ill. One that starts is neither well nor ill yet. */
function isUnhealthy({ isEstablished, answersSince, hasFailedToStart }: Member): boolean {
  return hasFailedToStart || (isEstablished && answersSince === undefined);
}

/** Tells whether a machine became well in the storm too recently: it has to stay so for the time that the set declares. */
function isRecovering(member: Member, set: MachineSet, now: Date): boolean {
  return member.isEstablished && (wellFrom(member, set)?.getTime() ?? 0) > now.getTime();
}

function firstEnd(recovering: readonly Member[], set: MachineSet): Date | undefined {
  const ends = recovering.flatMap((member) => wellFrom(member, set)?.getTime() ?? []);
  return ends.length === 0 ? undefined : new Date(Math.min(...ends));
}

function wellFrom({ answersSince }: Member, { spec: { stormGuard } }: MachineSet): Date | undefined {
  return answersSince && secondsAfter(answersSince, stormGuard.thawSeconds);
}

function isActive({ status }: MachineSet): boolean {
  return conditionStatus(status?.conditions, 'StormGuardActive') === 'True';
}
