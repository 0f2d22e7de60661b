/** Denies what the hub did not leave to this cluster: limits that span clusters, and the stop of the fleet. */
import type { FleetLimit, LedgerAllowance } from '../../api/generated/types.ts';
import type { DenialCause } from '../../api/grants.ts';
import type { AskGuard, GuardInput } from '../guards/guard.ts';
import { stopCauses } from '../guards/stop.ts';
import { fallsBelow } from '../ledger/rates.ts';
import { fleetRateKey, isCountedBy, isValidAt, permitted, usedOf, windowOf } from './limits.ts';

export const fleetStop: AskGuard = {
  id: 'fleet-stop',
  reasons: ['KillSwitch'],
  proof: { promise: 'an act while the fleet is stopped', seed: 2, isFleet: true },
  skippedByRecovery: false,
  checkedAtRenewal: true,
  check: ({ ledger: { allowance }, ask, now }) =>
    allowance ? stopCauses(allowance.killSwitch, { ask, now }, 'the fleet is stopped') : [],
};

export const fleetLimits: AskGuard = {
  id: 'fleet-limits',
  reasons: ['FleetLimit'],
  proof: { promise: 'more regions in work than the fleet allows', seed: 1, isFleet: true },
  skippedByRecovery: true,
  checkedAtRenewal: false,
  check: checkLimits,
};

function checkLimits(input: GuardInput): readonly DenialCause[] {
  const { ledger, ask } = input;
  const { allowance } = ledger;
  if (!allowance) return [];
  return allowance.limits
    .filter((limit) => isCountedBy(limit, ask))
    .flatMap((limit) => checkLimit(input, allowance, limit));
}

function checkLimit(
  { ledger, now }: GuardInput,
  allowance: LedgerAllowance,
  limit: FleetLimit,
): readonly DenialCause[] {
  const share = permitted(allowance, limit, now);
  const isRate = limit.kind === 'Rate';
  const used = isRate ? usedOf(ledger, limit, now) : 0;
  if (used < share) return [];
  const rate = ledger.rates[fleetRateKey(limit)];
  const until = isRate && rate ? fallsBelow(rate, windowOf(limit), share, now) : undefined;
  const message = `${limit.id}: ${shareText(limit, share, used)}; ${sourceText(allowance, limit, now)}`;
  return [{ reason: 'FleetLimit', message, key: limit.id, used, limit: share, ...(until ? { until } : {}) }];
}

function shareText(limit: FleetLimit, share: number, used: number): string {
  const { kind, max, per } = limit;
  return kind === 'Rate'
    ? `${used} of ${share} acts of this cluster within ${windowOf(limit)} s are used, and at most ${max} allowed over the fleet`
    : `at most ${max} (${per}) may be in work at once over the fleet, and it is not the turn of this cluster`;
}

function sourceText(allowance: LedgerAllowance, { message }: FleetLimit, now: Date): string {
  if (!isValidAt(allowance, now)) {
    return `the allowance of the hub ended at ${allowance.until}, so the floor holds until it is renewed`;
  }
  return message ?? 'the hub gives a share as soon as one is free';
}
