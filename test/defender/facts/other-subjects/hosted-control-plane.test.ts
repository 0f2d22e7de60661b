import { describe, expect, it } from 'vitest';
import type {
  Cluster,
  DefenderPolicy,
  DefenderPolicySpec,
  LedgerGrant,
} from '../../../../src/api/generated/types.ts';
import type { GrantAsk } from '../../../../src/api/grants.ts';
import { decide } from '../../../../src/defender/decide.ts';
import type { FleetFacts } from '../../../../src/defender/facts/facts.ts';
import {
  clusterOfKey,
  hostedControlPlaneFacts,
} from '../../../../src/defender/facts/other-subjects/hosted-control-plane.ts';
import { type HostedParts, hostedCluster } from '../../../support/hosting/objects.ts';
import { ago, entry, fleetFacts, ledgerSpec, machines, NOW, policy } from '../../builders.ts';

function condition(status: 'True' | 'False' | 'Unknown'): HostedParts {
  const one = { type: 'ControlPlaneReady', status, reason: 'X', message: '', lastTransitionTime: ago(60) };
  return { status: { conditions: [one] } };
}

const ASK: GrantAsk = {
  holder: { kind: 'Cluster', name: 'ci', origin: 'Cluster/ci' },
  machine: 'cluster:ci',
  action: 'UpdateControlPlane',
  risk: 'Node',
  factsAt: NOW,
  expectedSeconds: 300,
};

/** Ten machines, of which the first ones are not Ready, and the control planes of these Clusters. */
function factsWith(policies: readonly DefenderPolicy[], clusters: readonly Cluster[], sick = 0): FleetFacts {
  const all = machines(10).map((each, index) =>
    index < sick ? { ...each, readiness: 'NotReady' as const } : each,
  );
  const fleet = fleetFacts(all, policies);
  const planes = new Map(
    clusters.flatMap(hostedControlPlaneFacts).flatMap((each) => (each ? [[each.name, each]] : [])),
  );
  return { ...fleet, machine: (name) => fleet.machine(name) ?? planes.get(name) };
}

interface Parts {
  readonly cluster?: HostedParts;
  readonly spec?: Partial<DefenderPolicySpec>;
  readonly grants?: Readonly<Record<string, LedgerGrant>>;
  readonly ask?: Partial<GrantAsk>;
  readonly sick?: number;
}

function decided({ cluster = {}, spec = {}, grants = {}, ask = {}, sick = 0 }: Parts): string {
  const policies = [policy(spec)];
  const clusters = [hostedCluster(cluster), hostedCluster({ name: 'other' })];
  const facts = factsWith(policies, clusters, sick);
  const decision = decide(policies, ledgerSpec({ grants }), facts, { ask: { ...ASK, ...ask }, now: NOW });
  return decision.permitted ? 'permitted' : decision.reason;
}

const INPUT = { concurrency: [{ name: 'one', per: 'Cluster' as const, actions: [], max: 1 }] };
const LATER = new Date(+NOW + 3_600_000).toISOString();

describe('the facts of a hosted control plane', () => {
  it.each([
    ['True', 'Ready'],
    ['False', 'NotReady'],
    ['Unknown', 'Unknown'],
  ] as const)('are ready as its condition is: %s', (status, readiness) => {
    expect(hostedControlPlaneFacts(hostedCluster(condition(status)))?.readiness).toBe(readiness);
  });

  it('are unknown before hosting reports, and count as no machine', () => {
    const facts = hostedControlPlaneFacts(hostedCluster());
    expect(facts).toMatchObject({ name: 'cluster:ci', readiness: 'Unknown', established: false });
    expect(facts).not.toHaveProperty('pool');
    expect(facts?.labels).toEqual({ 'kubenode.dev/environment': 'test' });
  });

  it('do not exist for a cluster that the hub only syncs', () => {
    const { hosted: _, ...spec } = hostedCluster().spec;
    expect(hostedControlPlaneFacts({ ...hostedCluster(), spec })).toBeUndefined();
  });

  it.each([
    ['cluster:ci', 'ci'],
    ['ci', undefined],
    ['cluster', undefined],
  ])('are found by the key %s', (key, cluster) => {
    expect(clusterOfKey(key)).toBe(cluster);
  });
});

describe('a decision about a hosted control plane', () => {
  it.each<readonly [string, Parts, string]>([
    ['is known', {}, 'permitted'],
    ['is not known', { ask: { machine: 'cluster:missing' } }, 'FactUnknown'],
    ['is paused', { cluster: { spec: { paused: true } } }, 'ClusterPaused'],
    ['is excluded', { cluster: { metadata: { labels: { 'kubenode.dev/exclude': '' } } } }, 'NodeExcluded'],
    ['is asked for below its risk', { ask: { risk: 'None' } }, 'AskInvalid'],
    [
      'is asked for in a freeze',
      { spec: { freezes: [{ name: 'sale', from: ago(60), until: LATER, reason: 'sale', risks: [] }] } },
      'Freeze',
    ],
    [
      'is asked for while everything is stopped',
      { spec: { killSwitch: { engaged: true, scope: 'All' } } },
      'KillSwitch',
    ],
    [
      'is asked for beside another one in work',
      { spec: INPUT, grants: { 'cluster:other': entry('cluster:other', { action: 'UpdateControlPlane' }) } },
      'ConcurrencyCluster',
    ],
    [
      'is asked for beside a machine in work',
      { spec: INPUT, grants: { 'm-1': entry('m-1') } },
      'ConcurrencyCluster',
    ],
    ['is asked for while machines are not Ready', { spec: INPUT, sick: 5 }, 'permitted'],
  ])('of one that %s', (_, parts, expected) => {
    expect(decided(parts)).toBe(expected);
  });
});
