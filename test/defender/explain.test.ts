import { describe, expect, it } from 'vitest';
import type { Denial, DenialCause } from '../../src/api/grants.ts';
import { type ExplainInput, explainMachine } from '../../src/defender/explain.ts';
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

function denial(first: DenialCause, ...also: readonly DenialCause[]): Denial {
  return { granted: false, ...first, also };
}

const MACHINES = [
  machineFacts('a', { pool: 'web', zone: 'z1' }),
  machineFacts('b', { pool: 'web', zone: 'z2' }),
  machineFacts('c', { pool: 'gpu', zone: 'z1' }),
];

function scene(more: Partial<ExplainInput> = {}): ExplainInput {
  const [machine] = MACHINES;
  if (!machine) throw new Error('no machine');
  return {
    machine,
    waits: [],
    ledger: ledgerSpec(),
    facts: fleetFacts(MACHINES, []),
    policies: [],
    answers: [],
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
    const answers = [['Reboot', denial(IN_POOL, INTERVAL)]] as const;
    const [act] = explainMachine(scene({ ledger, answers })).acts;
    expect(act).toMatchObject({ action: 'Reboot', permitted: false, causes: [IN_POOL, INTERVAL] });
    expect(act?.inTheWay.map(({ machine }) => machine)).toEqual(['b']);
    const cluster = [['Reboot', denial({ ...IN_POOL, key: 'cluster' })]] as const;
    const [wider] = explainMachine(scene({ ledger, answers: cluster })).acts;
    expect(wider?.inTheWay.map(({ machine }) => machine)).toEqual(['c', 'b']);
  });

  it.each([
    ['the act on the machine itself', { a: entry('a') }],
    ['acts that are settled', { b: entry('b', { state: 'Settled', settledAt: ago(1) }) }],
    ['acts in other pools', { c: entry('c') }],
  ] as const)('R29 does not name %s as in the way', (_, grants) => {
    const answers = [['Reboot', denial(IN_POOL)]] as const;
    const [act] = explainMachine(scene({ ledger: ledgerSpec({ grants }), answers })).acts;
    expect(act?.inTheWay).toEqual([]);
  });

  it('R29 names no other act where no limit decides', () => {
    const ledger = ledgerSpec({ grants: { b: entry('b') } });
    const stopped = denial({ reason: 'KillSwitch', message: 'stopped by alice' });
    expect(explainMachine(scene({ ledger, answers: [['Reboot', stopped]] })).acts[0]?.inTheWay).toEqual([]);
  });

  it('R29 shows an act that is past its end as suspect', () => {
    const grant = entry('a', { state: 'Started', issuedAt: ago(900), notAfter: ago(600) });
    expect(explainMachine(scene({ ledger: ledgerSpec({ grants: { a: grant } }) })).grant).toMatchObject({
      machine: 'a',
      state: 'Suspect',
    });
  });

  it('R29 reports what is permitted, what keeps the machine out, and which breakers are not closed', () => {
    const breaker = { name: 'unhealthy', key: 'cluster', state: 'Open', since: ago(5), evidence: '3 of 4' };
    const opened = { ...policy(), status: { conditions: [], breakers: [breaker] } } as ReturnType<
      typeof policy
    >;
    const machine = machineFacts('d', { cordoned: true, excluded: true, established: true });
    const why = explainMachine(
      scene({ machine, policies: [opened], answers: [['Reboot', { granted: true, dryRun: true }]] }),
    );
    expect(why).toMatchObject({
      acts: [{ action: 'Reboot', permitted: true, causes: [] }],
      breakers: [{ id: 'fleet-default/unhealthy/cluster', state: 'Open', evidence: '3 of 4' }],
    });
    expect(why.notes).toContain('cordoned');
    expect(why.notes).toContain('excluded by the label kubenode.dev/exclude');
  });
});
