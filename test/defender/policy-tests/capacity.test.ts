import { describe, expect, it } from 'vitest';
import type { PolicyTest } from '../../../src/api/validation/policy-tests.ts';
import { policyTestFailure } from '../../../src/defender/policy-tests/run.ts';

const POLICIES = {
  'fleet-default': {
    scope: { nodeSelector: { all: true } },
    concurrency: [{ name: 'all', per: 'Cluster', max: 5 }],
    capacity: { simulateScheduling: true, minFreePercent: { cpu: 25 } },
  },
};
const FLEET = { name: 'm', count: 3, zone: 'a', pool: 'web', allocatable: { cpu: '4' } } as const;
const API = { name: 'shop/api', machine: 'm-1', requests: { cpu: '3' } } as const;
const WORK = { acts: [{ machine: 'm-2', action: 'Reboot' }] } as const;

describe('a test of a policy that asks for capacity', () => {
  it.each<[name: string, expected: PolicyTest['expect'], facts: PolicyTest['facts'], ledger?: object]>([
    ['Pods that are not given', 'FactUnknown', { machines: [FLEET] }],
    ['no Pods', 'Granted', { machines: [FLEET], pods: [] }],
    ['a Pod with a place', 'Granted', { machines: [FLEET], pods: [API] }],
    [
      'places that waiting Pods take',
      'PodsFitNowhere',
      { machines: [FLEET], pods: [API, { name: 'shop/new', count: 2, requests: { cpu: '3' } }] },
    ],
    [
      'a Pod of other nodes',
      'PodsFitNowhere',
      { machines: [FLEET], pods: [{ ...API, nodeSelector: { disk: 'ssd' } }] },
    ],
    [
      'two Pods, and room for one',
      'PodsFitNowhere',
      { machines: [{ ...FLEET, count: 2 }], pods: [{ ...API, count: 2 }] },
    ],
    [
      'nodes with a taint',
      'PodsFitNowhere',
      {
        machines: [FLEET, { ...FLEET, name: 'n' }].map((each) => ({ ...each, taints: ['gpu'] })),
        pods: [API],
      },
    ],
    [
      'no allocatable',
      'PodsFitNowhere',
      { machines: [{ name: 'm', count: 3, zone: 'a', pool: 'web' }], pods: [API] },
    ],
    [
      'a machine in work',
      'CapacityReserve',
      { machines: [FLEET], pods: [{ ...API, requests: { cpu: '3500m' } }] },
      WORK,
    ],
  ])('R28 is decided as in a cluster: %s', (_, expected, facts, ledger = {}) => {
    const test = { name: 'it', expect: expected, facts, ledger, ask: { machine: 'm-1', action: 'Reboot' } };
    expect(policyTestFailure({ policies: POLICIES, test })).toBeUndefined();
  });
});
