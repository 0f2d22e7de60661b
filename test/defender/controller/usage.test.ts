import { describe, expect, it } from 'vitest';
import { limitUsage } from '../../../src/defender/controller/usage.ts';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import { ago, entry, fleetFacts, ledgerSpec, machineFacts, machines, NOW, policy } from '../builders.ts';

const POLICIES = [
  policy({
    concurrency: [
      { name: 'cluster', per: 'Cluster', actions: [], max: '50%' },
      { name: 'zone', per: 'Zone', actions: [], max: 1 },
      { name: 'holder', per: 'Holder', actions: [], max: 1 },
    ],
    rates: [{ name: 'reboots', per: 'Cluster', actions: [], risks: [], max: 10, windowSeconds: 3600 }],
  }),
];

describe('limitUsage', () => {
  it('R29 shows what each limit counts, the fullest first', () => {
    const all = [
      ...machines(5),
      machineFacts('sick', { zone: 'b', readiness: 'NotReady' }),
      machineFacts('new', { zone: 'b', established: false }),
    ];
    const policies = preparePolicies(POLICIES);
    const [prepared] = policies.valid;
    if (!prepared) throw new Error('the policy is valid');
    const ledger = ledgerSpec({
      grants: { 'm-1': entry('m-1') },
      gone: { old: { zone: 'a', since: ago(60) } },
      rates: { 'fleet-default/reboots/cluster': { bucketSeconds: 300, firstBucketAt: ago(60), counts: [4] } },
    });
    const facts = fleetFacts(all, POLICIES);
    expect(limitUsage(prepared, { policies, ledger, facts, now: NOW })).toEqual([
      { rule: 'zone', key: 'a', used: 2, limit: 1 },
      { rule: 'cluster', key: 'cluster', used: 3, limit: 3 },
      { rule: 'zone', key: 'b', used: 1, limit: 1 },
      { rule: 'reboots', key: 'cluster', used: 4, limit: 10 },
    ]);
  });
});
