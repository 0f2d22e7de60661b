/** R14, R15: how many machines of a group may be out of service or in work. */
import type { DenyReason } from '../../api/deny-reasons.ts';
import type { DenialCause } from '../../api/grants.ts';
import { optional } from '../../kube/objects/optional.ts';
import { resolveIntOrPercent } from '../../rollout/int-or-percent.ts';
import { countStates, STATE_BITS } from '../facts/facts.ts';
import { CLUSTER_KEY, groupKey } from '../facts/grouping.ts';
import { holderKey, takesNodeDown } from '../ledger/entries.ts';
import { isActOf } from '../policies/matches.ts';
import type { PreparedLimit, PreparedPolicy } from '../policies/prepare.ts';
import type { GuardInput, PolicyGuard } from './guard.ts';

export const concurrencyLimits: PolicyGuard = {
  id: 'concurrency',
  reasons: [
    'ConcurrencyCluster',
    'ConcurrencyZone',
    'ConcurrencyPool',
    'ConcurrencyLabel',
    'ConcurrencyHolder',
    'SmallPool',
  ],
  proof: { promise: '4 machines in work, and 3 allowed', seed: 1 },
  skippedByRecovery: true,
  checkedAtRenewal: false,
  checkPolicy: (input, policy) => policy.limits.flatMap((limit) => checkLimit(input, policy, limit)),
};

export const lastReady: PolicyGuard = {
  id: 'last-ready',
  reasons: ['LastReadyOfPool'],
  proof: { promise: 'an act on the last machine of its pool that serves', seed: 4 },
  skippedByRecovery: true,
  checkedAtRenewal: false,
  checkPolicy: checkLastReady,
};

const NONE_YET = ', as none was Ready yet';

const REASONS = {
  Cluster: 'ConcurrencyCluster',
  Zone: 'ConcurrencyZone',
  Pool: 'ConcurrencyPool',
  Label: 'ConcurrencyLabel',
  Holder: 'ConcurrencyHolder',
} as const satisfies Record<string, DenyReason>;

function checkLimit(
  input: GuardInput,
  policy: PreparedPolicy,
  prepared: PreparedLimit,
): readonly DenialCause[] {
  if (!isActOf(prepared.limit, input.ask)) return [];
  const { key, used, total, part } = useOf(input, policy, prepared);
  const max = maximum(policy, prepared, total);
  if (used + 1 <= max.value) return [];
  const { name, per, max: amount } = prepared.limit;
  const of = typeof amount === 'string' ? ` (${amount} of ${total}${total === 0 ? NONE_YET : ''})` : '';
  const label = labelOf(prepared, key);
  const message = `${label}: ${used} ${COUNTED[part]}, and at most ${max.value} allowed${of} by limit ${name}`;
  const freed = { key, besides: input.ask.machine, part, count: used + 1 - max.value };
  const until = input.usage.freesAt(prepared, freed);
  const reason = max.isSmallPool ? 'SmallPool' : REASONS[per];
  return [{ reason, message, key: label, used, limit: max.value, ...optional('until', until) }];
}

interface Use {
  readonly key: string;
  readonly used: number;
  readonly total: number;
  /** Which of the acts that the ledger holds are counted in `used`. */
  readonly part: keyof typeof COUNTED;
}

/** The texts that name for people what is counted. */
const COUNTED = { taken: 'in work', uncounted: 'out of service or in work' } as const;

function useOf(
  { ask, machine, facts, usage }: GuardInput,
  policy: PreparedPolicy,
  prepared: PreparedLimit,
): Use {
  const { grouping } = prepared;
  if (!grouping) {
    const key = holderKey(ask.holder);
    const { total } = facts.group(policy.cluster.id, CLUSTER_KEY);
    return { key, used: usage.of(prepared, key, ask.machine).taken, total, part: 'taken' };
  }
  const key = groupKey(grouping, machine);
  const counts = facts.group(grouping.id, key);
  const use = usage.of(prepared, key, ask.machine);
  const total = counts.total + use.deleted;
  // A machine that is counted already costs no availability: it only has to fit beside the other acts (R14).
  const isCounted = !machine.established || (facts.statesOf(machine) & policy.countedStates) !== 0;
  if (isCounted) return { key, used: use.taken, total, part: 'taken' };
  const used = countStates(counts, policy.countedStates) + use.uncounted;
  return { key, used, total, part: 'uncounted' };
}

export interface GroupOfLimit {
  readonly policy: PreparedPolicy;
  readonly prepared: PreparedLimit;
  readonly key: string;
}

/** Returns, for reports, the use and the maximum that an ask for a machine that serves would meet. */
export function limitUse(
  { facts, usage }: Pick<GuardInput, 'facts' | 'usage'>,
  { policy, prepared, key }: GroupOfLimit,
): { readonly used: number; readonly max: number } {
  const counts = facts.group(prepared.grouping?.id ?? '', key);
  const { uncounted, deleted } = usage.of(prepared, key, '');
  const used = countStates(counts, policy.countedStates) + uncounted;
  return { used, max: maximum(policy, prepared, counts.total + deleted).value };
}

interface Maximum {
  readonly value: number;
  readonly isSmallPool: boolean;
}

/** Returns the maximum of a limit. In a small pool a percentage means little: the rule for small pools lowers it. */
function maximum({ spec }: PreparedPolicy, { limit }: PreparedLimit, total: number): Maximum {
  // The first machine of a group may be repaired before it was ever Ready.
  const value = resolveIntOrPercent(limit.max, Math.max(1, total));
  const { below, max } = spec.counting.smallPool;
  if (limit.per !== 'Pool' || total >= below || max >= value) return { value, isSmallPool: false };
  return { value: max, isSmallPool: true };
}

function labelOf({ limit, grouping }: PreparedLimit, key: string): string {
  if (!grouping) return `holder ${key}`;
  if (grouping.per === 'Cluster') return 'cluster';
  return `${grouping.per === 'Label' ? (limit.labelKey ?? '') : grouping.per.toLowerCase()} ${key}`;
}

/** R15: the last machine of a pool that serves is never taken out of service, unless its pool has to have none. */
function checkLastReady(input: GuardInput, policy: PreparedPolicy): readonly DenialCause[] {
  const { ask, machine, facts, usage } = input;
  if (!takesNodeDown(ask.risk) || !machine.established || facts.statesOf(machine) !== 0) return [];
  if (machine.pool === undefined || isScaledToZero(input, machine.pool)) return [];
  const key = groupKey(policy.pools, machine);
  const counts = facts.group(policy.pools.id, key);
  const serving = counts.total - countStates(counts, ALL_STATES);
  const inWork = usage.nodesDownIn(machine.pool);
  const used = serving - inWork.size + (inWork.has(machine.name) ? 1 : 0);
  if (used > 1) return [];
  const message = `machine ${machine.name} is the last of pool ${key} that serves`;
  return [{ reason: 'LastReadyOfPool', message, key: `pool ${key}`, used, limit: 1 }];
}

function isScaledToZero({ ask, facts }: GuardInput, pool: string): boolean {
  return ask.action === 'DeleteMachine' && facts.desiredIn(pool) === 0;
}

const ALL_STATES = Object.values(STATE_BITS).reduce((mask, bit) => mask | bit, 0);
