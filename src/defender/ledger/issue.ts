/** A new grant in the ledger, with everything that it is counted under. Pure. */

import type { LedgerGrant } from '../../api/generated/types.ts';
import type { GrantAsk } from '../../api/grants.ts';
import { ownValue } from '../../kube/objects/json.ts';
import { optional } from '../../kube/objects/optional.ts';
import { secondsAfter } from '../../os/dates.ts';
import { fleetRateKey, isCountedBy, windowOf } from '../allowance/limits.ts';
import { breakerKeys, isBreakerFor } from '../breakers/keys.ts';
import type { MachineFacts } from '../facts/facts.ts';
import { rateGroup } from '../guards/rates.ts';
import { appliesTo, isActOf } from '../policies/matches.ts';
import type { PreparedPolicies, PreparedPolicy } from '../policies/prepare.ts';
import type { LedgerDraft } from './draft.ts';
import { isAnswerTo } from './entries.ts';
import { countAct, rateKey } from './rates.ts';
import { setRate } from './upkeep/bounds.ts';
import { recordAct } from './upkeep/rule-waves.ts';

/** Bounds of `keys` of a grant. */
const MAX_KEYS = 8;
const MAX_VALUE = 128;
/** These keys are for where the machine is; a label may have the same name. */
const PLACES: ReadonlySet<string> = new Set(['zone', 'pool']);
const SHORTEST_GRANT_SECONDS = 30;

export interface IssueInput {
  readonly ask: GrantAsk;
  readonly machine: MachineFacts;
  readonly policies: PreparedPolicies;
  readonly now: Date;
  /** Number of grants that this write has issued before. */
  readonly index: number;
}

/** `draft.seq` is the seq of the write. */
export function issueGrant(draft: LedgerDraft, input: IssueInput): LedgerGrant {
  const { ask, machine, policies } = input;
  const applying = policies.valid.filter((policy) => appliesTo(policy, ask, machine));
  const entry = createEntry(draft, applying, input);
  draft.grants[ask.machine] = entry;
  draft.changed = true;
  for (const policy of applying) countRates(draft, policy, input);
  countForFleet(draft, input);
  if (ask.recovery !== true) claimProbes(draft, applying, input);
  recordAct(draft, entry, input);
  if (isAnswerTo(draft.approvals[ask.machine], ask)) delete draft.approvals[ask.machine];
  return entry;
}

function createEntry(
  draft: LedgerDraft,
  applying: readonly PreparedPolicy[],
  input: IssueInput,
): LedgerGrant {
  const { ask, machine, now, index } = input;
  const { holder, action, risk, nodeUID, started, ruleDigest } = ask;
  return {
    id: `g-${draft.seq}-${index}`,
    fence: draft.seq,
    state: started ? 'Started' : 'Granted',
    holder,
    action,
    risk,
    ...(nodeUID === undefined ? {} : { nodeUID }),
    ...optional('ruleDigest', ruleDigest),
    keys: keysOf(applying, machine),
    issuedAt: now.toISOString(),
    notAfter: endOfGrant(applying, now),
  };
}

/** The shortest life that an applying policy allows. */
export function endOfGrant(applying: readonly PreparedPolicy[], now: Date): string {
  const seconds = applying.map(({ spec }) => spec.grantSeconds);
  const shortest = seconds.length === 0 ? SHORTEST_GRANT_SECONDS : Math.min(...seconds);
  return secondsAfter(now, shortest).toISOString();
}

function keysOf(
  applying: readonly PreparedPolicy[],
  { zone, pool, labels }: MachineFacts,
): Record<string, string> {
  const limits = applying.flatMap((policy) => policy.limits);
  const labelled = limits.flatMap(({ limit: { labelKey } }): readonly (readonly [string, string])[] => {
    const value = labelKey === undefined ? undefined : ownValue(labels, labelKey);
    return labelKey === undefined || value === undefined ? [] : [[labelKey, value]];
  });
  const keys = [
    ...(zone === undefined ? [] : [['zone', zone]]),
    ...(pool === undefined ? [] : [['pool', pool]]),
  ];
  const unique = new Map(
    [...keys, ...labelled.filter(([key]) => !PLACES.has(key))].map(([key = '', value = '']) => [
      key,
      value.slice(0, MAX_VALUE),
    ]),
  );
  return Object.fromEntries([...unique].slice(0, MAX_KEYS));
}

function countRates(
  draft: LedgerDraft,
  { name, spec }: PreparedPolicy,
  { ask, machine, now }: IssueInput,
): void {
  for (const limit of spec.rates.filter((each) => isActOf(each, ask))) {
    const key = rateKey(name, limit.name, rateGroup(limit, ask.holder, machine));
    setRate(draft, key, countAct(draft.rates[key], limit, now));
  }
}

function countForFleet(draft: LedgerDraft, { ask, now }: IssueInput): void {
  const limits = draft.allowance?.limits ?? [];
  for (const limit of limits.filter((each) => each.kind === 'Rate' && isCountedBy(each, ask))) {
    const key = fleetRateKey(limit);
    setRate(draft, key, countAct(draft.rates[key], { windowSeconds: windowOf(limit) }, now));
  }
}

interface ProbingAct {
  readonly ask: Pick<GrantAsk, 'holder' | 'risk'>;
  readonly machine: MachineFacts;
}

/** The act that a half-open breaker permits is its probe, until it is settled. */
export function claimProbes(
  draft: LedgerDraft,
  applying: readonly PreparedPolicy[],
  { ask: { holder, risk }, machine }: ProbingAct,
): void {
  const keys = applying
    .filter(({ enforced }) => enforced)
    .flatMap(({ name, spec }) =>
      spec.breakers
        .filter((breaker) => isBreakerFor(breaker, risk))
        .flatMap((breaker) => breakerKeys(name, breaker, { holder, machine })),
    );
  for (const { id } of keys) {
    const state = draft.breakers[id];
    if (state?.state === 'HalfOpen') draft.breakers[id] = { ...state, probe: machine.name };
  }
}
