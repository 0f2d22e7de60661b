/** How much of each limit of a policy is used, the fullest first: shown before anything is denied. Pure. */
import type { DefenderLedgerSpec, LimitUsage } from '../../api/generated/types.ts';
import type { FleetFacts } from '../facts/facts.ts';
import { limitUse } from '../guards/unavailable-limits.ts';
import { countWithin, rateKey } from '../ledger/rates.ts';
import { createLedgerUsage, type LedgerUsage } from '../ledger/usage.ts';
import type { PreparedLimit, PreparedPolicies, PreparedPolicy } from '../policies/prepare.ts';

export interface UsageOfPolicyInput {
  readonly policies: PreparedPolicies;
  readonly ledger: DefenderLedgerSpec;
  readonly facts: FleetFacts;
  readonly now: Date;
}

const SHOWN = 20;
const MAX_KEY = 64;

export function limitUsage(policy: PreparedPolicy, input: UsageOfPolicyInput): readonly LimitUsage[] {
  const usage = createLedgerUsage(input);
  const limits = policy.limits.flatMap((limit) => concurrencyUsage(policy, limit, { ...input, usage }));
  return [...limits, ...rateUsage(policy, input)]
    .toSorted((a, b) => share(b) - share(a) || compare(a, b))
    .slice(0, SHOWN);
}

interface Shown {
  readonly rule: string;
  readonly key: string;
  readonly used: number;
  readonly limit: number;
}

function concurrencyUsage(
  policy: PreparedPolicy,
  prepared: PreparedLimit,
  { facts, usage }: { readonly facts: FleetFacts; readonly usage: LedgerUsage },
): readonly Shown[] {
  const { grouping, limit } = prepared;
  if (!grouping) return [];
  return facts.groupKeys(grouping.id).map((key) => {
    const { used, max } = limitUse({ facts, usage }, { policy, prepared, key });
    return { rule: limit.name, key: key.slice(0, MAX_KEY), used, limit: max };
  });
}

function rateUsage(
  { name, spec }: PreparedPolicy,
  { ledger, now }: Pick<UsageOfPolicyInput, 'ledger' | 'now'>,
): readonly Shown[] {
  return spec.rates.flatMap((limit) => {
    const start = rateKey(name, limit.name, '');
    return Object.entries(ledger.rates).flatMap(([key, rate]) => {
      if (!key.startsWith(start)) return [];
      const used = countWithin(rate, limit.windowSeconds, now);
      return { rule: limit.name, key: key.slice(start.length).slice(0, MAX_KEY), used, limit: limit.max };
    });
  });
}

/** A limit of 0 that permits nothing is full. */
function share({ used, limit }: Shown): number {
  return limit === 0 ? 1 : used / limit;
}

function compare(a: Shown, b: Shown): number {
  const [one, other] = [`${a.rule}/${a.key}`, `${b.rule}/${b.key}`];
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
