import { describe, expect, it } from 'vitest';
import type { Breaker, DefenderPolicySpec } from '../../../src/api/generated/types.ts';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import { policyProblems } from '../../../src/defender/policies/problems.ts';
import { ago, decideScene, policy } from '../builders.ts';

const NOBODY = { actions: [], risks: [], holders: [] };
const RING: Breaker = {
  name: 'acts',
  type: 'FailedActs',
  per: 'Cluster',
  risks: [],
  percent: 50,
  count: 25,
  lift: 2,
  cooldownSeconds: 900,
  probes: 1,
  manualAfterTrips: 2,
};

function blockedBy(blockers: Partial<DefenderPolicySpec['blockers']>): Partial<DefenderPolicySpec> {
  return { blockers: { foreign: [], podLabels: [], minNodeAgeSeconds: 0, promql: [], ...blockers } };
}

describe('policyProblems', () => {
  it.each<[string, Partial<DefenderPolicySpec>, string]>([
    [
      'an empty selector',
      { scope: { nodeSelector: { all: false }, ...NOBODY } },
      'scope.nodeSelector must either have conditions or set all: true',
    ],
    [
      'a contradictory selector',
      { scope: { nodeSelector: { all: true, matchLabels: { a: 'b' } }, ...NOBODY } },
      'scope.nodeSelector must either have conditions or set all: true',
    ],
    [
      'a Lease without a namespace',
      blockedBy({ foreign: [{ lease: 'node-{node}' }] }),
      'blockers.foreign: node-{node} is not the namespace and name of a Lease: use medik8s-leases/node-{node}',
    ],
    [
      'the Lease of a kubelet',
      blockedBy({ foreign: [{ lease: 'kube-node-lease/{node}' }] }),
      'blockers.foreign: kube-node-lease/{node} is in kube-node-lease, where the Leases are those of kubelets',
    ],
    [
      'a selector of Pods that is not a label',
      blockedBy({ podLabels: ['app in (a, b)'] }),
      'blockers.podLabels: app in (a, b) is not a label: use key=value or key',
    ],
    [
      'an unreadable amount',
      { concurrency: [{ name: 'l', per: 'Cluster', actions: [], max: 'x%' as '1%' }] },
      "concurrency l: expected an integer or a percentage from 0% to 100%, got 'x%'",
    ],
    [
      'a burst above its limit',
      { rates: [{ name: 'r', per: 'Cluster', actions: [], risks: [], max: 1, windowSeconds: 60, burst: 2 }] },
      'rate r: burst must not exceed max',
    ],
    [
      'an unknown time zone',
      {
        quiet: [
          { name: 'q', start: '1:00', end: '2:00', timeZone: 'Mars/Base', risks: [], exceptFaultClasses: [] },
        ],
      },
      'quiet q: unknown time zone Mars/Base',
    ],
    [
      'a freeze that ends first',
      { freezes: [{ name: 'f', from: ago(1), until: ago(2), reason: 'x', risks: [] }] },
      'freeze f: from must be before until',
    ],
    [
      'a kill switch without a readable end',
      { killSwitch: { engaged: true, scope: 'All', until: 'soon' } },
      'killSwitch.until is not a time',
    ],
    [
      'more outcomes than the ledger keeps',
      { breakers: [RING] },
      'breaker acts: count must not exceed 24 without withinSeconds',
    ],
  ])('finds %s, and the policy then denies everything', (_, spec, problem) => {
    expect(policyProblems(policy(spec, 'more'))).toEqual([problem]);
    const decision = decideScene({ policies: [policy(), policy(spec, 'more')] });
    expect(decision).toMatchObject({ reason: 'PolicyInvalid', policy: 'more' });
  });

  it.each<[string, Partial<DefenderPolicySpec>, string]>([
    ['in mode Audit', { mode: 'Audit' }, 'fleet-default must be in mode Enforce'],
    [
      'for some acts',
      { scope: { nodeSelector: { all: true }, ...NOBODY, risks: ['Node'] } },
      'fleet-default must apply to all nodes and acts',
    ],
    ['without a limit', { concurrency: [] }, 'fleet-default must limit concurrency'],
  ])('accepts no fleet-default %s', (_, spec, problem) => {
    expect(policyProblems(policy(spec))).toEqual([problem]);
    expect(decideScene({ policies: [policy(spec)] }).permitted).toBe(false);
  });

  it('ignores an invalid policy in mode Audit, which denies nothing', () => {
    const audit = policy({ mode: 'Audit', scope: { nodeSelector: { all: false }, ...NOBODY } }, 'audit');
    expect(preparePolicies([policy(), audit])).toMatchObject({
      valid: [{ name: 'fleet-default' }],
      problems: new Map(),
    });
  });
});
