import { describe, expect, it } from 'vitest';
import type { Breaker, LedgerBreaker } from '../../../src/api/generated/types.ts';
import { reviewBreakers } from '../../../src/defender/breakers/review.ts';
import type { MachineFacts, UnknownFact } from '../../../src/defender/facts/facts.ts';
import { createDraft } from '../../../src/defender/ledger/draft.ts';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import { ago, entry, fleetFacts, ledgerSpec, machineFacts, machines, NOW, policy } from '../builders.ts';

const DETECTOR: Breaker = {
  name: 'detector',
  type: 'IndeterminateRatio',
  per: 'Cluster',
  risks: [],
  percent: 30,
  count: 3,
  lift: 2,
  cooldownSeconds: 900,
  probes: 1,
  manualAfterTrips: 2,
};
const HUNG = 'condition FrequentTaskHung status is unknown';
const OPEN: LedgerBreaker = { state: 'Open', since: ago(900), closesAt: ago(0), trips: 1, evidence: 'e' };

function unknown(seconds: number, rule = 'kernel-hang', message = HUNG): UnknownFact {
  return { rule, since: new Date(ago(seconds)), message };
}

/** Ten machines, the first of them with these unknown facts. */
function fleet(...facts: readonly Partial<MachineFacts>[]): readonly MachineFacts[] {
  return machines(10).map((machine, index) => ({ ...machine, ...facts[index] }));
}

interface Scene {
  readonly all: readonly MachineFacts[];
  readonly breaker?: Partial<Breaker>;
  readonly ledger?: Parameters<typeof ledgerSpec>[0];
}

function reviewed({ all, breaker = {}, ledger = {} }: Scene): readonly string[] {
  const policies = [policy({ breakers: [{ ...DETECTOR, ...breaker }] })];
  const draft = createDraft(ledgerSpec(ledger));
  reviewBreakers(draft, { policies: preparePolicies(policies), facts: fleetFacts(all, policies), now: NOW });
  return Object.entries(draft.breakers).map(
    ([id, { state, evidence = '' }]) => `${id.slice('fleet-default/detector/'.length)} ${state}: ${evidence}`,
  );
}

const LONG = { unknownFacts: [unknown(600)] };
const OPENED = `cluster Open: 3 of 10 machines, first 2030-01-01T11:50:00Z, rule kernel-hang: ${HUNG}`;

describe('a breaker by facts that stay unknown', () => {
  it.each<[name: string, scene: Scene, expected: readonly string[]]>([
    [
      'opens at its share, and names the rule, the fact and since when',
      { all: fleet(LONG, LONG, LONG) },
      [OPENED],
    ],
    ['stays closed below its share', { all: fleet(LONG, LONG, LONG), breaker: { percent: 31 } }, []],
    ['stays closed below its count', { all: fleet(LONG, LONG), breaker: { percent: 1 } }, []],
    [
      'waits until they are unknown for long',
      { all: fleet(LONG, LONG, { unknownFacts: [unknown(599)] }) },
      [],
    ],
    [
      'waits as long as the policy sets',
      { all: fleet(LONG, LONG, { unknownFacts: [unknown(60)] }), breaker: { withinSeconds: 60 } },
      [OPENED],
    ],
    [
      'counts a machine once, and names the rule of most machines',
      {
        all: fleet(
          { unknownFacts: [unknown(9000, 'a', 'x'), unknown(700)] },
          { unknownFacts: [unknown(800)] },
          { unknownFacts: [unknown(900, 'b', 'y')] },
        ),
      },
      [`cluster Open: 3 of 10 machines, first 2030-01-01T11:46:40Z, rule kernel-hang: ${HUNG}`],
    ],
    [
      'counts no machine with an act in flight',
      { all: fleet(LONG, LONG, LONG), ledger: { grants: { 'm-1': entry('m-1') } } },
      [],
    ],
    [
      'counts a machine whose act is settled',
      {
        all: fleet(LONG, LONG, LONG),
        ledger: {
          grants: { 'm-1': entry('m-1', { state: 'Settled', settledAt: ago(1), outcome: 'Succeeded' }) },
        },
      },
      [OPENED],
    ],
    [
      'counts neither young Nodes nor machines that were never Ready',
      {
        all: [
          ...fleet(LONG, LONG),
          machineFacts('young', { ...LONG, nodeCreatedAt: new Date(ago(899)) }),
          machineFacts('new', { ...LONG, established: false }),
        ],
        breaker: { percent: 20 },
      },
      [],
    ],
    [
      'opens for the zone alone',
      {
        all: [
          ...machines(10),
          ...['b-1', 'b-2', 'b-3'].map((name) => machineFacts(name, { ...LONG, zone: 'b' })),
        ],
        breaker: { per: 'Zone' },
      },
      [`b Open: 3 of 3 machines, first 2030-01-01T11:50:00Z, rule kernel-hang: ${HUNG}`],
    ],
    [
      'stays open while they are unknown',
      { all: fleet(LONG, LONG, LONG), ledger: { breakers: { 'fleet-default/detector/cluster': OPEN } } },
      ['cluster Open: e'],
    ],
    [
      'is half open when they are known again and its cooldown is over',
      { all: fleet(LONG, LONG), ledger: { breakers: { 'fleet-default/detector/cluster': OPEN } } },
      ['cluster HalfOpen: e'],
    ],
  ])('R18 a breaker by unknown facts %s', (_, scene, expected) => {
    expect(reviewed(scene)).toEqual(expected);
  });

  it('R18 has evidence that the ledger accepts, whatever a rule asks about', () => {
    const odd = { unknownFacts: [unknown(600, 'r'.repeat(63), 'é\n'.repeat(200))] };
    const [found = ''] = reviewed({ all: fleet(odd, odd, odd) });
    expect(found.replace('cluster Open: ', '')).toMatch(/^[ -~]{128}$/);
  });
});
