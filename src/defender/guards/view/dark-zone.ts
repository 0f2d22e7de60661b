/** R19: in a zone that is dark, nothing disruptive is done, and nothing is drained out of it. */
import type { DenialCause } from '../../../api/grants.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import { countStates, type FleetFacts, STATE_BITS } from '../../facts/facts.ts';
import { groupKey } from '../../facts/grouping.ts';
import type { PreparedPolicy } from '../../policies/prepare.ts';
import type { AskGuard, GuardInput, PolicyGuard } from '../guard.ts';

const UNHEALTHY = STATE_BITS.NotReady | STATE_BITS.Unknown;

export const darkZone: PolicyGuard = {
  id: 'dark-zone',
  reasons: ['ZoneDark'],
  proof: { promise: 'an act in a dark zone', seed: 13 },
  skippedByRecovery: true,
  checkedAtRenewal: true,
  checkPolicy: checkDark,
};

export const zonalShift: AskGuard = {
  id: 'zonal-shift',
  reasons: ['ZonalShift'],
  proof: { promise: 'an act in a zone that is shifted', seed: 1 },
  skippedByRecovery: true,
  checkedAtRenewal: true,
  check: checkShift,
};

function checkDark({ ask, machine, facts }: GuardInput, policy: PreparedPolicy): readonly DenialCause[] {
  if (ask.risk === 'None') return [];
  return darkZoneCause(policy, facts, groupKey(policy.zones, machine));
}

/** A cause for each zone that is dark by the numbers of the policy. */
export function darkZones(policy: PreparedPolicy, facts: FleetFacts): readonly DenialCause[] {
  return facts
    .groupKeys(policy.zones.id)
    .toSorted(byCode)
    .flatMap((zone) => darkZoneCause(policy, facts, zone));
}

function darkZoneCause(
  { zones, spec }: PreparedPolicy,
  facts: FleetFacts,
  zone: string,
): readonly DenialCause[] {
  const { haltPercent, minNodes } = spec.zones;
  const counts = facts.group(zones.id, zone);
  const used = countStates(counts, UNHEALTHY);
  if (counts.total < minNodes || used * 100 < haltPercent * counts.total) return [];
  const limit = Math.ceil((haltPercent * counts.total) / 100);
  const message = `zone ${zone} is dark: ${used} of ${counts.total} nodes are not Ready; ${limit} make it dark`;
  return [{ reason: 'ZoneDark', message, key: `zone ${zone}`, used, limit }];
}

function checkShift({ ask, machine, facts }: GuardInput): readonly DenialCause[] {
  const { zone } = machine;
  if (ask.risk === 'None' || zone === undefined || !facts.zonalShifts.has(zone)) return [];
  return [
    { reason: 'ZonalShift', message: `the provider reports zone ${zone} as failing`, key: `zone ${zone}` },
  ];
}
