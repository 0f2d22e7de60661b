/**
 * Breakers by what is observed: they open when too much of a group is unhealthy, become half open when the cause and the
 * cooldown are over, and then wait for a probe. Nothing is done to close one (R18), and nothing is replayed (R17). Pure.
 */
import type { Breaker, LedgerBreaker } from '../../api/generated/types.ts';
import { isSelected } from '../../kube/objects/selector.ts';
import { countStates, type FleetFacts, type MachineFacts, STATE_BITS } from '../facts/facts.ts';
import { groupKey } from '../facts/grouping.ts';
import { after } from '../guards/guard.ts';
import { counterKey } from '../ledger/counter-key.ts';
import type { LedgerDraft } from '../ledger/draft.ts';
import { isActedOn } from '../ledger/entries.ts';
import { breakerGrouping, type PreparedPolicies, type PreparedPolicy } from '../policies/prepare.ts';
import { reviewCauses } from './cause-review.ts';
import { clearCounters } from './counters.ts';
import { breakerId } from './keys.ts';
import { tripBreaker } from './trip.ts';
import { unknownFactsCause } from './unknown-facts.ts';

export interface ReviewInput {
  readonly policies: PreparedPolicies;
  readonly facts: Pick<
    FleetFacts,
    'group' | 'groupKeys' | 'createdAfter' | 'statesOf' | 'faulty' | 'withUnknownFacts'
  >;
  readonly now: Date;
}

interface Review {
  readonly id: string;
  readonly breaker: Breaker;
  /** Why it has to be open; undefined: the cause is over, or shows only in acts. */
  readonly cause: string | undefined;
}

const UNHEALTHY = STATE_BITS.NotReady | STATE_BITS.Unknown;

export function reviewBreakers(draft: LedgerDraft, { policies, facts, now }: ReviewInput): void {
  const reviews = policies.valid
    .filter(({ enforced }) => enforced)
    .flatMap((policy) =>
      declaredBreakers(policy, facts, now).flatMap((declared) => reviewsOf(draft, declared)),
    );
  for (const review of reviews) apply(draft, review, now);
  const known = new Set(reviews.map(({ id }) => id));
  // A policy that cannot be read declares them still.
  const isDeclared = (id: string): boolean => known.has(id) || policies.problems.has(id.split('/')[0] ?? '');
  const orphaned = Object.keys(draft.breakers).filter((id) => !isDeclared(id));
  for (const id of orphaned) remove(draft, id);
}

/** Closed by a person: its earlier trips are forgotten. */
export function closeBreaker(draft: LedgerDraft, id: string): void {
  remove(draft, id);
  delete draft.rates[counterKey(id, 'trips')];
  clearCounters(draft, id);
}

function remove(draft: LedgerDraft, id: string): void {
  delete draft.breakers[id];
  draft.changed = true;
}

interface Declared {
  readonly policy: PreparedPolicy;
  readonly breaker: Breaker;
  readonly facts: ReviewInput['facts'];
  /** Machines whose Nodes are younger than the policy trusts: normal scaling up must not open a breaker. */
  readonly young: readonly MachineFacts[];
  readonly now: Date;
}

function declaredBreakers(
  policy: PreparedPolicy,
  facts: ReviewInput['facts'],
  now: Date,
): readonly Declared[] {
  const { breakers, blockers } = policy.spec;
  if (breakers.length === 0) return [];
  const young = facts.createdAfter(after(now, -blockers.minNodeAgeSeconds));
  return breakers.map((breaker) => ({ policy, breaker, facts, young, now }));
}

/** For each group that has machines, and for each breaker that is not closed. */
function reviewsOf(draft: LedgerDraft, declared: Declared): readonly Review[] {
  const { policy, breaker, facts } = declared;
  if (breaker.type === 'CommonCause') {
    return [...reviewCauses(draft, declared)].map(([id, cause]) => ({ id, breaker, cause }));
  }
  const { breakers } = draft;
  const start = breakerId(policy.name, breaker.name, '');
  const stored = Object.keys(breakers).flatMap((id) => (id.startsWith(start) ? id.slice(start.length) : []));
  const causeOf = causesOf(draft, declared);
  const groups = causeOf ? facts.groupKeys(breakerGrouping(policy, breaker).id) : [];
  return [...new Set([...stored, ...groups])].map((key) => ({
    id: breakerId(policy.name, breaker.name, key),
    breaker,
    cause: causeOf?.(key),
  }));
}

/** Returns what finds the cause for one group. Undefined: the cause shows in acts, and not in facts. */
function causesOf(draft: LedgerDraft, declared: Declared): ((key: string) => string | undefined) | undefined {
  const { type } = declared.breaker;
  if (type === 'UnhealthyRatio') return (key) => unhealthyCause(declared, key);
  return type === 'IndeterminateRatio' ? unknownCauses(draft, declared) : undefined;
}

function unknownCauses(
  { grants }: Pick<LedgerDraft, 'grants'>,
  declared: Declared,
): (key: string) => string | undefined {
  const { policy, breaker, facts, young, now } = declared;
  const left = new Set(young.map(({ name }) => name));
  return unknownFactsCause({
    breaker,
    grouping: breakerGrouping(policy, breaker),
    machines: facts.withUnknownFacts(),
    isLeftOut: ({ name }) => left.has(name) || isActedOn(grants, name),
    sizeOf: (key) => countGroup(declared, key).total,
    now,
  });
}

function unhealthyCause(declared: Declared, key: string): string | undefined {
  const { percent = 100, count = 1 } = declared.breaker;
  const { unhealthy, total } = countGroup(declared, key);
  if (unhealthy < count || unhealthy * 100 < percent * total) return undefined;
  return `${unhealthy} of ${total} machines are not Ready`;
}

function countGroup(
  { policy, breaker, facts, young }: Declared,
  key: string,
): { readonly unhealthy: number; readonly total: number } {
  const grouping = breakerGrouping(policy, breaker);
  const counts = facts.group(grouping.id, key);
  const left = young.filter(
    (machine) => isSelected(grouping.selector, machine.labels) && groupKey(grouping, machine) === key,
  );
  const sick = left.filter((machine) => (facts.statesOf(machine) & UNHEALTHY) !== 0).length;
  return { unhealthy: countStates(counts, UNHEALTHY) - sick, total: counts.total - left.length };
}

function apply(draft: LedgerDraft, { id, breaker, cause }: Review, now: Date): void {
  const state = draft.breakers[id];
  if (cause !== undefined) {
    if (!state || state.state === 'HalfOpen') tripBreaker(draft, { id, breaker, evidence: cause }, now);
    return;
  }
  if (!state || !isCooledDown(state, now)) return;
  const { closesAt, ...rest } = state;
  draft.breakers[id] = { ...rest, state: 'HalfOpen', since: closesAt ?? now.toISOString() };
  draft.changed = true;
}

function isCooledDown({ state, closesAt }: LedgerBreaker, now: Date): boolean {
  return state === 'Open' && Date.parse(closesAt ?? '') <= +now;
}
