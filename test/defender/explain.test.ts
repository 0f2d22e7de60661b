import { describe, expect, it } from 'vitest';
import type { DefenderPolicy } from '../../src/api/generated/types.ts';
import type { DenialCause } from '../../src/api/grants.ts';
import type { Decision } from '../../src/defender/decide.ts';
import { type ExplainInput, explainMachine } from '../../src/defender/explain.ts';
import type { MachineFacts } from '../../src/defender/facts/facts.ts';
import { preparePolicies } from '../../src/defender/policies/prepare.ts';
import { ago, entry, fleetFacts, ledgerSpec, machineFacts, NOW, policy } from './builders.ts';

const IN_POOL: DenialCause = {
  reason: 'ConcurrencyPool',
  message: 'pool web: 1 in work, and at most 1 allowed by limit one',
  policy: 'fleet-default',
  key: 'pool web',
  used: 1,
  limit: 1,
};
const INTERVAL: DenialCause = { reason: 'NodeInterval', message: 'last job ended 06:51', until: NOW };

function denial(first: DenialCause, ...also: readonly DenialCause[]): Decision {
  return { permitted: false, ...first, also, audit: [] };
}

const MACHINES = [
  machineFacts('a', { pool: 'web', zone: 'z1' }),
  machineFacts('b', { pool: 'web', zone: 'z2' }),
  machineFacts('c', { pool: 'gpu', zone: 'z1' }),
];

function withoutPool(machine: MachineFacts): MachineFacts {
  const { pool: _, ...others } = machine;
  return others;
}

function lingering(lingerSeconds: number, name?: string): DefenderPolicy {
  const { counting } = policy().spec;
  return policy({ counting: { ...counting, lingerSeconds } }, name);
}

function scene(more: Partial<ExplainInput> = {}): ExplainInput {
  const [machine] = MACHINES;
  if (!machine) throw new Error('no machine');
  return {
    machine,
    waits: [],
    ledger: ledgerSpec(),
    facts: fleetFacts(MACHINES, []),
    decisions: [],
    policies: preparePolicies([lingering(300)]),
    now: NOW,
    ...more,
  };
}

describe('explainMachine', () => {
  it('R29 names every cause in order, and the acts that use up the limit, oldest first', () => {
    const ledger = ledgerSpec({
      grants: {
        b: entry('b', { issuedAt: ago(60) }),
        c: entry('c', { issuedAt: ago(90) }),
      },
    });
    const decisions = [['Reboot', denial(IN_POOL, INTERVAL)]] as const;
    const [act] = explainMachine(scene({ ledger, decisions })).acts;
    expect(act).toMatchObject({ action: 'Reboot', permitted: false, causes: [IN_POOL, INTERVAL] });
    expect(act?.inTheWay.map(({ machine }) => machine)).toEqual(['b']);
    const cluster = [['Reboot', denial({ ...IN_POOL, key: 'cluster' })]] as const;
    const [wider] = explainMachine(scene({ ledger, decisions: cluster })).acts;
    expect(wider?.inTheWay.map(({ machine }) => machine)).toEqual(['c', 'b']);
  });

  it.each([
    ['the act on the machine itself', { a: entry('a') }],
    ['acts that did not begin in time', { b: entry('b', { state: 'Granted', notAfter: ago(1) }) }],
    ['acts in other pools', { c: entry('c') }],
    ['settled acts that count no more', { b: entry('b', { state: 'Settled', settledAt: ago(300) }) }],
  ] as const)('R29 does not name %s as in the way', (_, grants) => {
    const decisions = [['Reboot', denial(IN_POOL)]] as const;
    const [act] = explainMachine(scene({ ledger: ledgerSpec({ grants }), decisions })).acts;
    expect(act?.inTheWay).toEqual([]);
  });

  it('R29 shows how long a settled act still counts, by the policy whose limit it uses up', () => {
    const grants = { b: entry('b', { state: 'Settled', settledAt: ago(100), outcome: 'Succeeded' }) };
    const policies = preparePolicies([lingering(160), lingering(900, 'other')]);
    const decisions = [['Reboot', denial(IN_POOL)]] as const;
    const [act] = explainMachine(scene({ ledger: ledgerSpec({ grants }), decisions, policies })).acts;
    expect(act?.inTheWay).toMatchObject([
      { machine: 'b', state: 'Settled', countsUntil: new Date(ago(-60)).toISOString() },
    ]);
  });

  it.each([
    ['pool', machineFacts('b', { pool: 'web' }), 'pool web'],
    ['zone', machineFacts('b', { zone: 'z9' }), 'zone z9'],
    ['label', machineFacts('b', { labels: { 'example.com/rack': 'r7' } }), 'example.com/rack r7'],
    ['holder', machineFacts('b'), 'holder MachineComponentSet/base'],
    ['missing pool', withoutPool(machineFacts('b')), 'pool (none)'],
  ])('R29 finds who uses up a limit per %s', (_, other, key) => {
    const decisions = [['Reboot', denial({ ...IN_POOL, key })]] as const;
    const grants = { b: entry('b') };
    const facts = fleetFacts([...MACHINES.filter(({ name }) => name !== 'b'), other], []);
    const [act] = explainMachine(scene({ ledger: ledgerSpec({ grants }), facts, decisions })).acts;
    expect(act?.inTheWay.map(({ machine }) => machine)).toEqual(['b']);
  });

  it.each<DenialCause>([
    { reason: 'KillSwitch', message: 'stopped by alice' },
    { reason: 'RateWindow', message: '3 of 3 an hour', key: 'cluster', used: 3, limit: 3 },
  ])('R29 names no other act for $reason, which the end of an act does not end', (cause) => {
    const ledger = ledgerSpec({ grants: { b: entry('b') } });
    const decisions = [['Reboot', denial(cause)]] as const;
    expect(explainMachine(scene({ ledger, decisions })).acts[0]?.inTheWay).toEqual([]);
  });

  it('R29 shows an act that is past its end as suspect', () => {
    const grant = entry('a', { state: 'Started', issuedAt: ago(900), notAfter: ago(600) });
    expect(explainMachine(scene({ ledger: ledgerSpec({ grants: { a: grant } }) })).grant).toMatchObject({
      machine: 'a',
      state: 'Suspect',
    });
  });

  it('R29 shows no grant of a machine whose name every object has', () => {
    const machine = machineFacts('constructor');
    expect(explainMachine(scene({ machine }))).not.toHaveProperty('grant');
  });

  it('R29 reports what is permitted, what keeps the machine out, and which breakers are not closed', () => {
    const breaker = { state: 'Open', since: ago(5), trips: 1, evidence: '3 of 4' } as const;
    const ledger = ledgerSpec({ breakers: { 'fleet-default/unhealthy/cluster': breaker } });
    const machine = machineFacts('d', { cordoned: true, excluded: true, established: true });
    const why = explainMachine(
      scene({ machine, ledger, decisions: [['Reboot', { permitted: true, audit: [] }]] }),
    );
    expect(why).toMatchObject({
      acts: [{ action: 'Reboot', permitted: true, causes: [] }],
      breakers: [{ id: 'fleet-default/unhealthy/cluster', state: 'Open', evidence: '3 of 4' }],
    });
    expect(why.notes).toContain('cordoned');
    expect(why.notes).toContain('excluded by the label kubenode.dev/exclude');
  });
});
