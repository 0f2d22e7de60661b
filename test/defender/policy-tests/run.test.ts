import { describe, expect, it } from 'vitest';
import type { PolicyTest } from '../../../src/api/validation/policy-tests.ts';
import type { DefenderPolicySpec } from '../../../src/constructs/generated/types.ts';
import { policyTestFailure } from '../../../src/defender/policy-tests/run.ts';

const fleetDefault: DefenderPolicySpec = {
  scope: { nodeSelector: { all: true } },
  concurrency: [{ name: 'zone', per: 'Zone', risks: ['Node', 'Machine'], max: 1 }],
  rates: [{ name: 'reboots', per: 'Cluster', actions: ['Reboot'], max: 2, windowSeconds: 3600 }],
  breakers: [
    { name: 'sick', type: 'UnhealthyRatio', per: 'Zone', percent: 50, count: 2 },
    { name: 'failed', type: 'ConsecutiveFailures', per: 'Cluster', count: 2, cooldownSeconds: 3600 },
    { name: 'detector', type: 'IndeterminateRatio', per: 'Cluster', percent: 30, count: 3 },
  ],
  approval: [{ name: 'replace', actions: ['ReplaceMachine'], approvers: ['sre'] }],
  quiet: [{ name: 'noon', days: ['Tue'], start: '12:00', end: '13:00', timeZone: 'UTC', risks: ['Data'] }],
};

const TEST: PolicyTest = {
  name: 'it',
  expect: 'Granted',
  facts: { machines: [{ name: 'm', count: 10, zone: 'a', pool: 'web' }] },
  ask: { machine: 'm-1', action: 'Reboot' },
};
const LONG_AGO = 1800;

function failure(test: Partial<PolicyTest>, policies: unknown = { 'fleet-default': fleetDefault }) {
  return policyTestFailure({ policies, test: { ...TEST, ...test } });
}

function settled(machine: string, outcome: 'Succeeded' | 'Failed' = 'Succeeded') {
  return {
    machine,
    action: 'Reboot',
    secondsAgo: LONG_AGO + 60,
    settled: { secondsAgo: LONG_AGO, outcome },
  } as const;
}

const sick = { name: 'sick', zone: 'a', pool: 'web', readiness: 'NotReady' } as const;

const SEVEN = [{ name: 'm', count: 7, zone: 'a', pool: 'web' }] as const;
const SILENT = { name: 's', count: 3, zone: 'a', pool: 'web', unknownFactsForSeconds: 600 } as const;

const ALERTS = {
  'fleet-default': { ...fleetDefault, blockers: { promql: [{ name: 'paging', query: 'ALERTS' }] } },
};

describe('a test of policies', () => {
  it.each<[name: string, test: Partial<PolicyTest>, policies?: object]>([
    ['a healthy fleet', {}],
    [
      'another act of the zone',
      { expect: 'ConcurrencyZone', ledger: { acts: [{ machine: 'm-2', action: 'Reboot' }] } },
    ],
    ['an act that ended long ago', { ledger: { acts: [settled('m-2')] } }],
    [
      'as many acts as the rate allows',
      { expect: 'RateWindow', ledger: { acts: [settled('m-2'), settled('m-3')] } },
    ],
    ['alerts that are quiet', { facts: { ...TEST.facts, alerts: { paging: 'Quiet' } } }, ALERTS],
    [
      'an alert',
      { expect: 'BlockedByAlert', facts: { ...TEST.facts, alerts: { paging: 'Firing' } } },
      ALERTS,
    ],
    ['alerts that were not asked for', { expect: 'AlertUnreadable' }, ALERTS],
    ['facts that are unknown on few machines', { facts: { machines: [...SEVEN, { ...SILENT, count: 2 }] } }],
    [
      'facts that are unknown for a moment',
      { facts: { machines: [...SEVEN, { ...SILENT, unknownFactsForSeconds: 599 }] } },
    ],
    ['facts that stay unknown', { expect: 'DetectorSuspect', facts: { machines: [...SEVEN, SILENT] } }],
    [
      'a recovery while facts stay unknown',
      {
        facts: { machines: [...SEVEN, SILENT] },
        ask: { machine: 'm-1', action: 'UpdateComponent', recovery: true },
      },
    ],
    [
      'failed acts that open a breaker',
      {
        expect: 'BreakerOpen',
        ledger: { acts: [settled('m-2', 'Failed'), settled('m-3', 'Failed')] },
        ask: { machine: 'm-1', action: 'UpdateComponent' },
      },
    ],
    [
      'facts that open a breaker',
      {
        expect: 'BreakerOpen',
        facts: {
          machines: [
            { ...sick, count: 5 },
            { name: 'm', count: 5, zone: 'a' },
          ],
        },
        ask: { machine: 'sick-1', action: 'Reboot' },
      },
    ],
    [
      'a breaker that waits for a person',
      {
        expect: 'BreakerNeedsPerson',
        ledger: { breakers: { 'fleet-default/failed/cluster': { state: 'NeedsPerson' } } },
      },
    ],
    [
      'an approval that is pending',
      { expect: 'ApprovalPending', ask: { machine: 'm-1', action: 'ReplaceMachine' } },
    ],
    [
      'an approval',
      { ledger: { approvals: { 'm-1': 'Approved' } }, ask: { machine: 'm-1', action: 'ReplaceMachine' } },
    ],
    [
      'a refusal',
      {
        expect: 'ApprovalRefused',
        ledger: { approvals: { 'm-1': 'Refused' } },
        ask: { machine: 'm-1', action: 'ReplaceMachine' },
      },
    ],
    ['a ledger that recovers', { expect: 'LedgerRecovering', ledger: { recovering: true } }],
    [
      'a machine that was deleted and not replaced',
      { expect: 'ConcurrencyZone', ledger: { gone: { 'm-99': { zone: 'a' } } } },
    ],
    [
      'a young node',
      {
        expect: 'NodeTooYoung',
        facts: {
          machines: [
            { name: 'm-1', zone: 'a', ageSeconds: 60 },
            { name: 'm-2', zone: 'a' },
          ],
        },
      },
    ],
    ['a hold', { expect: 'HumanHold', facts: { machines: [{ name: 'm-1', hold: 'debugging' }] } }],
    [
      'a control plane that was not read',
      {
        expect: 'ControlPlaneUnreadable',
        facts: { machines: [{ name: 'm-1', isControlPlane: true }, { name: 'm-2' }] },
      },
    ],
    [
      'a quiet window',
      {
        at: '2030-01-01T12:30:00Z',
        expect: 'QuietWindow',
        ask: { machine: 'm-1', action: 'Reboot', risk: 'Data' },
      },
    ],
    [
      'the time after it',
      { at: '2030-01-01T13:00:00Z', ask: { machine: 'm-1', action: 'Reboot', risk: 'Data' } },
    ],
    ['an unknown machine', { expect: 'FactUnknown', ask: { machine: 'x', action: 'Reboot' } }],
  ])('R29 decides for %s as in a cluster', (_, test, policies) => {
    expect(failure(test, policies)).toBeUndefined();
  });

  it('R29 names the test, the expected verdict and the one that it got', () => {
    expect(failure({ name: 'stale', facts: { ...TEST.facts, viewAgeSeconds: 300 } })).toBe(
      'policy test "stale": expected Granted, got WatchStale by fleet-default: no contact with the API server for 300 s; at most 150 s are allowed',
    );
    expect(failure({ expect: 'BreakerOpen' })).toBe('policy test "it": expected BreakerOpen, got Granted');
  });

  it.each<[name: string, test: object, because: string]>([
    [
      'an unknown field',
      { facts: { machines: [{ name: 'm-1', cordonned: true }] } },
      'facts.machines.0: Unrecognized key: "cordonned"',
    ],
    ['an unknown reason', { expect: 'Denied' }, 'expect: Invalid option'],
    ['an unknown action', { ask: { machine: 'm-1', action: 'Explode' } }, 'ask.action: Invalid option'],
    [
      'an act on an unknown machine',
      { ledger: { acts: [{ machine: 'x', action: 'Reboot' }] } },
      'facts.machines has no machine x',
    ],
    ['a time that cannot be read', { at: 'noon' }, 'at: Invalid ISO datetime'],
  ])('fails with %s', (_, test, because) => {
    expect(
      policyTestFailure({ policies: { 'fleet-default': fleetDefault }, test: { ...TEST, ...test } }),
    ).toContain(`policy test "it": ${because}`);
  });

  it('fails with a policy that the API server would refuse, and denies by one that is not acted on', () => {
    expect(failure({}, { 'fleet-default': { ...fleetDefault, rate: [] } })).toContain(
      'DefenderPolicy fleet-default: spec.rate:',
    );
    expect(failure({}, [])).toContain('expected policies by name');
    expect(failure({ expect: 'PolicyMissing' }, {})).toBeUndefined();
    const unsupported = {
      ...fleetDefault,
      breakers: [{ name: 'storm', type: 'CommonCause', per: 'Zone', dimensions: ['zone'] }],
    };
    expect(failure({ expect: 'PolicyInvalid' }, { 'fleet-default': unsupported })).toBeUndefined();
  });
});
