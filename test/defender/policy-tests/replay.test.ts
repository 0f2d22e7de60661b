import { describe, expect, it } from 'vitest';
import type { PolicyTest } from '../../../src/api/validation/policy-tests.ts';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import { replayLedger, testAsk } from '../../../src/defender/policy-tests/replay.ts';
import { fleetFacts, machines, NOW, policy, secondsAgo } from '../builders.ts';

const policies = [
  policy({
    rates: [{ name: 'all', per: 'Cluster', actions: [], risks: [], max: 9, windowSeconds: 3600 }],
  }),
];
const input = { policies: preparePolicies(policies), facts: fleetFacts(machines(5), policies), now: NOW };

function at(seconds: number): string {
  return secondsAgo(seconds).toISOString();
}

function replay(ledger: NonNullable<PolicyTest['ledger']>) {
  const test = { name: 'it', expect: 'Granted', facts: { machines: [] } } as const;
  return replayLedger({ ...test, ledger, ask: { machine: 'm-1', action: 'Reboot' } }, input);
}

describe('the ledger of a test', () => {
  it('holds acts in work that are renewed until now, and counts them in rates when they began', () => {
    const { grants, rates } = replay({ acts: [{ machine: 'm-2', action: 'Reboot', secondsAgo: 1000 }] });
    expect(grants['m-2']).toMatchObject({
      state: 'Started',
      action: 'Reboot',
      risk: 'Node',
      issuedAt: at(1000),
      notAfter: at(-300),
    });
    expect(rates['fleet-default/all/cluster']).toMatchObject({ firstBucketAt: at(1000), counts: [1] });
  });

  it('settles acts in the order of time, a deletion leaves its machine missing', () => {
    const settled = { secondsAgo: 100, outcome: 'Failed' } as const;
    const { grants, gone } = replay({
      acts: [
        { machine: 'm-2', action: 'DeleteMachine', settled: { secondsAgo: 50 } },
        { machine: 'm-3', action: 'Reboot', settled },
      ],
      gone: { 'm-9': { pool: 'web' } },
    });
    expect(grants['m-2']).toMatchObject({ state: 'Settled', outcome: 'Succeeded', settledAt: at(50) });
    expect(grants['m-3']).toMatchObject({ state: 'Settled', outcome: 'Failed', settledAt: at(100) });
    expect(Object.keys(gone).toSorted()).toEqual(['m-2', 'm-9']);
  });

  it.each([
    ['Reboot', 'Node', 'RemedyOperationJob'],
    ['CleanDisk', 'None', 'RemedyOperationJob'],
    ['UpdateComponent', 'Node', 'MachineComponentSet'],
    ['DeleteMachine', 'Machine', 'Machine'],
    ['WipeDisk', 'Data', 'Other'],
  ] as const)('asks for %s with risk %s as %s, unless the test names others', (action, risk, kind) => {
    expect(testAsk({ machine: 'm-1', action }, input)).toMatchObject({
      risk,
      holder: { kind },
      nodeUID: 'uid-m-1',
    });
    const own = { machine: 'm-1', action, risk: 'Data', holder: 'Other', origin: 'a' } as const;
    expect(testAsk(own, input)).toMatchObject({ risk: 'Data', holder: { kind: 'Other', origin: 'a' } });
  });
});
