/** R16: how many acts in a period. */
import type { RateLimit } from '../../api/generated/types.ts';
import type { DenialCause, GrantAsk } from '../../api/grants.ts';
import type { MachineFacts } from '../facts/facts.ts';
import { groupKey } from '../facts/grouping.ts';
import { holderKey } from '../ledger/entries.ts';
import { bucketSecondsOf, countWithin, fallsBelow, rateKey } from '../ledger/rates.ts';
import { isActOf } from '../policies/matches.ts';
import type { PreparedPolicy } from '../policies/prepare.ts';
import type { GuardInput, PolicyGuard } from './guard.ts';

export const rates: PolicyGuard = {
  id: 'rates',
  reasons: ['RateWindow', 'RateBurst'],
  proof: { promise: 'more reboots in an hour than allowed', seed: 1 },
  skippedByRecovery: true,
  checkedAtRenewal: false,
  checkPolicy: (input, policy) => policy.spec.rates.flatMap((limit) => checkRate(input, policy, limit)),
};

export function rateGroup(limit: RateLimit, holder: GrantAsk['holder'], machine: MachineFacts): string {
  const { per, labelKey } = limit;
  if (per === 'Holder') return holderKey(holder);
  return groupKey({ per, ...(labelKey === undefined ? {} : { labelKey }) }, machine);
}

function checkRate(input: GuardInput, { name }: PreparedPolicy, limit: RateLimit): readonly DenialCause[] {
  const { ask, machine, ledger, now } = input;
  if (!isActOf(limit, ask)) return [];
  const key = rateGroup(limit, ask.holder, machine);
  const rate = ledger.rates[rateKey(name, limit.name, key)];
  const { max, windowSeconds, burst } = limit;
  const checks = [
    { reason: 'RateWindow', max, seconds: windowSeconds },
    { reason: 'RateBurst', max: burst ?? max, seconds: bucketSecondsOf(limit) },
  ] as const;
  return checks.flatMap((check): readonly DenialCause[] => {
    const used = countWithin(rate, check.seconds, now);
    if (used < check.max) return [];
    const until = rate && fallsBelow(rate, check.seconds, check.max, now);
    const message = `${limit.name}: ${used} acts within ${check.seconds} s, and at most ${check.max} allowed for ${key}`;
    return [{ reason: check.reason, message, key, used, limit: check.max, ...(until ? { until } : {}) }];
  });
}
