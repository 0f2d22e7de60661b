import { describe, expect, it } from 'vitest';
import type { Breaker, DefenderLedgerSpec, LedgerBreaker } from '../../../src/api/generated/types.ts';
import { closeBreaker, reviewBreakers } from '../../../src/defender/breakers/review.ts';
import type { FleetFacts, MachineFacts } from '../../../src/defender/facts/facts.ts';
import { createDraft, type LedgerDraft } from '../../../src/defender/ledger/draft.ts';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import { ago, fleetFacts, ledgerSpec, machineFacts, machines, NOW, policy } from '../builders.ts';

const STORM: Breaker = {
  name: 'storm',
  type: 'UnhealthyRatio',
  per: 'Pool',
  risks: [],
  percent: 20,
  count: 3,
  lift: 2,
  cooldownSeconds: 900,
  probes: 1,
  manualAfterTrips: 2,
};
const ID = 'fleet-default/storm/web';
const OPEN: LedgerBreaker = { state: 'Open', since: ago(900), closesAt: ago(0), trips: 1, evidence: 'e' };
const TRIPPED = { [`${ID}#trips`]: { bucketSeconds: 7200, firstBucketAt: ago(900), counts: [1] } };

describe('reviewBreakers', () => {
  it.each<[string, number, LedgerBreaker | undefined, string]>([
    ['stays closed below its count', 2, undefined, 'closed'],
    ['opens at its share', 3, undefined, 'Open until 12:15:00: 3 of 10 machines are not Ready'],
    ['stays open while the cause holds', 3, OPEN, 'Open until 12:00:00: e'],
    ['stays open during its cooldown', 0, { ...OPEN, closesAt: ago(-1) }, 'Open until 12:00:01: e'],
    ['is half open when both are over', 0, OPEN, 'HalfOpen: e'],
    ['stays half open while nothing asks', 0, { ...OPEN, state: 'HalfOpen' }, 'HalfOpen: e'],
    [
      'waits for a person after two trips in a day',
      3,
      { ...OPEN, state: 'HalfOpen' },
      'NeedsPerson: 3 of 10 machines are not Ready',
    ],
    ['keeps waiting for a person', 0, { ...OPEN, state: 'NeedsPerson' }, 'NeedsPerson: e'],
  ])('R18 after a review, a breaker %s', (_, unhealthy, state, text) => {
    const ledger = state ? { breakers: { [ID]: state }, rates: TRIPPED } : {};
    expect(shown(review(unhealthy, ledger))).toBe(text);
  });

  it('R18 counts no machine that was never Ready: scaling up opens nothing', () => {
    const draft = createDraft(ledgerSpec());
    const all = [
      ...machines(10),
      ...Array.from({ length: 9 }, (_, n) =>
        machineFacts(`new-${n}`, { established: false, readiness: 'NotReady' }),
      ),
    ];
    const policies = [policy({ breakers: [STORM] })];
    reviewBreakers(draft, {
      policies: preparePolicies(policies),
      facts: fleetFacts(all, policies),
      now: NOW,
    });
    expect(draft).toMatchObject({ breakers: {}, changed: false });
  });

  it.each([
    ['a young node', 300, 'closed'],
    ['a node that is old enough', 900, 'Open until 12:15:00: 3 of 13 machines are not Ready'],
  ])(
    'R18 counts %s neither as sick nor in the size of its group: normal scaling up opens nothing',
    (_, seconds, state) => {
      const joined = { nodeCreatedAt: new Date(ago(seconds)), readiness: 'NotReady' } as const;
      const all = [...machines(10), ...['a', 'b', 'c'].map((name) => machineFacts(name, joined))];
      expect(shown(reviewAll(all))).toBe(state);
      // Young nodes that are Ready do not dilute the share of the sick ones.
      const sick = machines(10).map((machine, n) =>
        n < 3 ? { ...machine, readiness: 'NotReady' as const } : machine,
      );
      const grown = Array.from({ length: 20 }, (_each, n) =>
        machineFacts(`new-${n}`, { ...joined, readiness: 'Ready' }),
      );
      expect(shown(reviewAll([...sick, ...grown]))).toBe(
        seconds < 900 ? 'Open until 12:15:00: 3 of 10 machines are not Ready' : 'closed',
      );
    },
  );

  it('R13 stores no more breakers than the ledger can hold', () => {
    const all = Array.from({ length: 70 }, (_, n) =>
      machineFacts(`m-${n}`, { pool: `p-${n}`, readiness: 'NotReady' }),
    );
    const draft = reviewAll(all, { count: 1 });
    expect(Object.keys(draft.breakers)).toHaveLength(64);
  });

  it('opens when it is not observed which facts are unknown', () => {
    const draft = review(
      0,
      {},
      { type: 'IndeterminateRatio', per: 'Cluster', percent: 30 },
      { withUnknownFacts: () => undefined },
    );
    expect(draft.breakers['fleet-default/storm/cluster']).toMatchObject({
      state: 'Open',
      evidence: 'facts that rules need were not observed',
    });
  });

  it('removes a breaker that no policy declares', () => {
    const draft = review(0, { breakers: { 'old/storm/web': OPEN } });
    expect([draft.breakers, draft.changed]).toEqual([{}, true]);
  });

  it('R18 keeps the breakers of a policy that is not accepted, until it is fixed', () => {
    const draft = createDraft(ledgerSpec({ breakers: { [ID]: { ...OPEN, state: 'NeedsPerson' } } }));
    const broken = [policy({ breakers: [STORM], concurrency: [] })];
    const facts = fleetFacts(machines(10), broken);
    reviewBreakers(draft, { policies: preparePolicies(broken), facts, now: NOW });
    expect(draft).toMatchObject({ breakers: { [ID]: { state: 'NeedsPerson' } }, changed: false });
  });

  it('R18 forgets earlier trips when a person closes it', () => {
    const draft = createDraft(
      ledgerSpec({ breakers: { [ID]: { ...OPEN, state: 'NeedsPerson' } }, rates: TRIPPED }),
    );
    closeBreaker(draft, ID);
    expect(draft).toMatchObject({ breakers: {}, rates: {}, changed: true });
  });
});

function reviewAll(all: readonly MachineFacts[], fields: Partial<Breaker> = {}): LedgerDraft {
  const policies = [policy({ breakers: [{ ...STORM, ...fields }] })];
  const draft = createDraft(ledgerSpec());
  const facts = fleetFacts(all, policies);
  reviewBreakers(draft, { policies: preparePolicies(policies), facts, now: NOW });
  return draft;
}

function review(
  unhealthy: number,
  ledger: Partial<DefenderLedgerSpec>,
  fields: Partial<Breaker> = {},
  facts: Partial<FleetFacts> = {},
): LedgerDraft {
  const policies = [policy({ breakers: [{ ...STORM, ...fields }] })];
  const all = machines(10).map((machine, index) =>
    index < unhealthy ? { ...machine, readiness: 'NotReady' as const } : machine,
  );
  const draft = createDraft(ledgerSpec(ledger));
  reviewBreakers(draft, {
    policies: preparePolicies(policies),
    facts: fleetFacts(all, policies, facts),
    now: NOW,
  });
  return draft;
}

function shown({ breakers }: LedgerDraft): string {
  const found = breakers[ID];
  if (!found) return 'closed';
  const until = found.state === 'Open' ? ` until ${found.closesAt?.slice(11, 19) ?? ''}` : '';
  return `${found.state}${until}: ${found.evidence ?? ''}`;
}
