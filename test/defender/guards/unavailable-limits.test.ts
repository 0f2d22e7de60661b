import { describe, expect, it } from 'vitest';
import type { Amount, ConcurrencyLimit, LedgerGrant } from '../../../src/api/generated/types.ts';
import { decideScene, entry, explain, machineFacts, machines, policy } from '../builders.ts';

const ROUNDED: readonly (readonly [pool: number, percent: Amount, allowed: number])[] = [
  [1, '10%', 1],
  [2, '10%', 1],
  [3, '10%', 1],
  [4, '50%', 2],
  [5, '10%', 1],
  [9, '10%', 1],
  [10, '10%', 1],
  [11, '10%', 1],
  [20, '10%', 2],
  [1000, '5%', 50],
];

describe('concurrency limits', () => {
  for (const per of ['Cluster', 'Zone', 'Pool', 'Label'] as const) {
    it.each(ROUNDED)(`R15 rounds down, at least to 1, per ${per}: %i machines, %s`, (count, max, allowed) => {
      const limit: ConcurrencyLimit = {
        name: 'l',
        per,
        actions: [],
        max,
        ...(per === 'Label' ? { labelKey: 'topology.kubernetes.io/rack' } : {}),
      };
      const all = [machineFacts('m-1', { readiness: 'NotReady' }), ...machines(count).slice(1)];
      const granted = (inWork: number): boolean => {
        const busy = all.slice(1, inWork + 1).map(({ name }) => name);
        const ledger = { grants: Object.fromEntries(busy.map((name) => [name, entry(name)] as const)) };
        return decideScene({ policies: [policy({ concurrency: [limit] })], machines: all, ledger }).permitted;
      };
      expect(granted(allowed - 1)).toBe(true);
      expect(granted(allowed)).toBe(count <= allowed);
    });
  }

  it('R15 explains the percentage of a fleet in which no machine was Ready yet', () => {
    const all = machines(3, { established: false, readiness: 'NotReady' });
    const policies = [policy({ concurrency: [{ name: 'l', per: 'Cluster', actions: [], max: '5%' }] })];
    const decision = decideScene({ policies, machines: all, ledger: { grants: { 'm-2': entry('m-2') } } });
    expect(explain(decision)).toBe(
      'ConcurrencyCluster [fleet-default]: cluster: 1 in work, and at most 1 allowed (5% of 0, as none was Ready yet) by limit l',
    );
  });

  const pools = [policy({ concurrency: [{ name: 'pool', per: 'Pool', actions: [], max: 1 }] })];

  it('R15 repairs the machine of a pool of one when it is NotReady, and never the last that serves', () => {
    expect(decideScene({ policies: pools, machines: machines(1) }).permitted).toBe(false);
    expect(decideScene({ policies: pools, machines: machines(1, { readiness: 'NotReady' }) }).permitted).toBe(
      true,
    );
  });

  it.each<[desired: number | undefined, action: 'DeleteMachine' | 'ReplaceMachine', permitted: boolean]>([
    [0, 'DeleteMachine', true],
    [1, 'DeleteMachine', false],
    [undefined, 'DeleteMachine', false],
    [0, 'ReplaceMachine', false],
  ])(
    'R15 with %s desired machines, %s of the last that serves is permitted: %s',
    (desired, action, permitted) => {
      const facts = { desiredIn: () => desired };
      const decision = decideScene({
        policies: pools,
        machines: machines(1),
        facts,
        ask: { action, risk: 'Machine' },
      });
      expect(decision.permitted).toBe(permitted);
    },
  );

  it.each([
    ['10%', true],
    ['0%', false],
  ] as const)(
    'R15 repairs the first machine of a pool, which was never Ready: limit %s',
    (max, permitted) => {
      const share = [policy({ concurrency: [{ name: 'pool', per: 'Pool', actions: [], max }] })];
      const all = [machineFacts('m-1', { established: false, readiness: 'NotReady' })];
      expect(decideScene({ policies: share, machines: all }).permitted).toBe(permitted);
    },
  );

  it.each([
    ['NotReady', { readiness: 'NotReady' as const }],
    ['Unknown', { readiness: 'Unknown' as const }],
    ['cordoned by a person', { cordoned: true }],
  ])('R14 counts a machine that is %s against those that serve', (_, facts) => {
    const all = [...machines(9), machineFacts('m-10', facts)];
    expect(decideScene({ policies: pools, machines: all }).permitted).toBe(false);
  });

  it('R14 counts deleted machines that are not replaced, and settled acts that linger', () => {
    const deleted = { gone: { 'old-1': { pool: 'web', zone: 'a', since: '2030-01-01T11:00:00Z' } } };
    expect(decideScene({ policies: pools, ledger: deleted }).permitted).toBe(false);
    expect(decideScene({ policies: pools, ledger: settled('2030-01-01T11:50:00Z') }).permitted).toBe(false);
    expect(decideScene({ policies: pools, ledger: settled('2030-01-01T11:45:00Z') }).permitted).toBe(true);
  });

  it('R14 heals 8 % of NotReady machines under a limit of 5 %, 5 % at a time', () => {
    const five = [policy({ concurrency: [{ name: 'c', per: 'Cluster', actions: [], max: '5%' }] })];
    const all = [...machines(8, { readiness: 'NotReady' }), ...machines(100).slice(8)];
    const inWork = (count: number) => ({
      grants: Object.fromEntries(all.slice(1, count + 1).map(({ name }) => [name, entry(name)])),
    });
    expect(decideScene({ policies: five, machines: all, ledger: inWork(4) }).permitted).toBe(true);
    expect(decideScene({ policies: five, machines: all, ledger: inWork(5) }).permitted).toBe(false);
    expect(decideScene({ policies: five, machines: all, ask: { machine: 'm-20' } }).permitted).toBe(false);
  });

  it.each([
    ['serves until its act begins', {}, {}, false],
    ['is in work without taking its node down', {}, { risk: 'Pod' }, true],
    ['was settled', {}, { state: 'Settled', settledAt: '2030-01-01T11:59:00Z', outcome: 'Succeeded' }, true],
    ['belongs to another pool', { pool: 'db' }, {}, true],
  ] as const)(
    'R15 keeps the last machine of a pool when the other one %s',
    (_, other, grant, isPermitted) => {
      const db = [machineFacts('m-1'), machineFacts('m-2', other), machineFacts('m-3', { pool: 'db' })];
      const all = 'pool' in other ? [...db, machineFacts('m-4')] : db;
      const ledger = { grants: { 'm-2': entry('m-2', grant) } };
      expect(decideScene({ machines: all, ledger }).permitted).toBe(isPermitted);
    },
  );
});

function settled(settledAt: string): { readonly grants: Readonly<Record<string, LedgerGrant>> } {
  return { grants: { 'm-2': entry('m-2', { state: 'Settled', settledAt, outcome: 'Succeeded' }) } };
}
