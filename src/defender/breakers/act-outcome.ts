/** R27: what the outcome of an act does to breakers. A failed probe opens its breaker again, a good one closes it. Pure. */
import type { Breaker, LedgerGrant } from '../../api/generated/types.ts';
import type { MachineFacts } from '../facts/facts.ts';
import { counterKey } from '../ledger/counter-key.ts';
import type { LedgerDraft } from '../ledger/draft.ts';
import { countAct, countWithin } from '../ledger/rates.ts';
import { setRate } from '../ledger/upkeep/bounds.ts';
import { isActOf } from '../policies/matches.ts';
import type { PreparedPolicies } from '../policies/prepare.ts';
import { clearCounters, counterValue, setCounter } from './counters.ts';
import { breakerKeys, isBreakerFor } from './keys.ts';
import { addOutcome } from './outcomes.ts';
import { beginCooldown, countInCooldown } from './storm.ts';
import { tripBreaker } from './trip.ts';

export interface ActOutcome {
  readonly machine: string;
  readonly entry: LedgerGrant;
  readonly outcome: NonNullable<LedgerGrant['outcome']>;
  /** Undefined: the machine was deleted; then its zone and pool as the grant recorded them count. */
  readonly facts: MachineFacts | undefined;
}

export function recordOutcome(
  draft: LedgerDraft,
  act: ActOutcome,
  policies: PreparedPolicies,
  now: Date,
): void {
  const { entry, facts } = act;
  const machine = facts ?? { ...entry.keys };
  for (const { name, spec, enforced } of policies.valid) {
    if (!enforced || !isActOf(spec.scope, entry)) continue;
    for (const breaker of spec.breakers.filter((each) => isBreakerFor(each, entry.risk))) {
      for (const { id, label } of breakerKeys(name, breaker, { holder: entry.holder, machine })) {
        settleOne(draft, { id, label, breaker, act }, now);
      }
    }
  }
}

interface OneBreaker {
  readonly id: string;
  readonly label: string;
  readonly breaker: Breaker;
  readonly act: ActOutcome;
}

function settleOne(draft: LedgerDraft, one: OneBreaker, now: Date): void {
  const { id, breaker, act } = one;
  const state = draft.breakers[id];
  const hasFailed = act.outcome === 'Failed' || act.outcome === 'Ambiguous';
  countInCooldown(draft, id, act.outcome, now);
  if (state?.state === 'HalfOpen' && state.probe === act.machine) {
    settleProbe(draft, one, now);
  } else if (act.outcome !== 'Unused' && !state) {
    const evidence = countOutcome(draft, one, { hasFailed, now });
    if (evidence !== undefined) tripBreaker(draft, { id, breaker, evidence }, now);
  }
}

function settleProbe(draft: LedgerDraft, { id, breaker, act }: OneBreaker, now: Date): void {
  const { machine, outcome } = act;
  draft.changed = true;
  if (outcome === 'Succeeded') {
    countProbe(draft, id, breaker, now);
  } else if (outcome === 'Unused') {
    awaitProbe(draft, id, now);
  } else {
    tripBreaker(draft, { id, breaker, evidence: `probe on ${machine}: ${outcome}` }, now);
  }
}

/** Probes follow one after the other: each one shows that the next may begin. */
function countProbe(draft: LedgerDraft, id: string, breaker: Breaker, now: Date): void {
  const key = counterKey(id, 'probes');
  const verified = (counterValue(draft.rates, key, now) ?? 0) + 1;
  if (verified < breaker.probes) {
    setCounter(draft, key, verified, now);
    awaitProbe(draft, id, now);
    return;
  }
  delete draft.breakers[id];
  delete draft.rates[counterKey(id, 'acts')];
  clearCounters(draft, id);
  beginCooldown(draft, id, breaker, now);
}

function awaitProbe(draft: LedgerDraft, id: string, now: Date): void {
  const { probe: _, ...waiting } = draft.breakers[id] ?? {
    state: 'HalfOpen',
    since: now.toISOString(),
    trips: 1,
  };
  draft.breakers[id] = waiting;
}

interface Outcome {
  readonly hasFailed: boolean;
  readonly now: Date;
}

/** Returns the evidence when the breaker has to open. */
function countOutcome(draft: LedgerDraft, one: OneBreaker, outcome: Outcome): string | undefined {
  const { id, label, breaker } = one;
  const { type, count = 1, withinSeconds } = breaker;
  if (type !== 'FailedActs' && type !== 'ConsecutiveFailures') return undefined;
  if (type === 'ConsecutiveFailures' || withinSeconds === undefined) return countLast(draft, one, outcome);
  return countFailure(draft, { id, label, count, withinSeconds }, outcome);
}

function countLast(draft: LedgerDraft, one: OneBreaker, { hasFailed, now }: Outcome): string | undefined {
  const { id, label, breaker } = one;
  const { type, count = 1, percent = 100 } = breaker;
  const key = counterKey(id, 'acts');
  const rate = addOutcome(draft.rates[key], hasFailed, now);
  setRate(draft, key, rate);
  const last = rate.counts.slice(-count);
  const failed = last.filter((each) => each > 0).length;
  const least = Math.max(1, ((type === 'ConsecutiveFailures' ? 100 : percent) * count) / 100);
  if (last.length < count || failed < least) return undefined;
  delete draft.rates[key];
  return `${failed} of the last ${last.length} acts of ${label} failed`;
}

interface FailureLimit {
  readonly id: string;
  readonly label: string;
  readonly count: number;
  readonly withinSeconds: number;
}

function countFailure(
  draft: LedgerDraft,
  { id, label, count, withinSeconds }: FailureLimit,
  { hasFailed, now }: Outcome,
): string | undefined {
  if (!hasFailed) return undefined;
  const key = counterKey(id, 'failed');
  const rate = countAct(draft.rates[key], { windowSeconds: withinSeconds }, now);
  setRate(draft, key, rate);
  const failed = countWithin(rate, withinSeconds, now);
  if (failed < count) return undefined;
  delete draft.rates[key];
  return `${failed} acts of ${label} failed within ${withinSeconds} s`;
}
