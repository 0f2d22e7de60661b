import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../src/api/generated/types.ts';
import {
  clusterHealth,
  healthCell,
  healthText,
  incidentSentence,
} from '../../../src/views/status/cluster-health.ts';
import { cluster } from '../../cli/commands/builders.ts';
import { condition } from '../../support/builders.ts';

type Conditions = readonly ReturnType<typeof condition>[];

const REACHABLE = condition('Reachable', 'True');
const WELL: Conditions = [REACHABLE, condition('MachinesReady', 'True'), condition('Healthy', 'True')];
const UNHEALTHY = condition('MachinesReady', 'False', {
  message: '3 of 6 machines are unhealthy: a Unreachable',
});
const MACHINES = { total: 6, ready: 3, unhealthy: 3 };

function clusterWith(conditions: Conditions, status: Partial<NonNullable<Cluster['status']>> = {}): Cluster {
  const { spec, ...rest } = cluster({ state: 'Proven' });
  return { ...rest, spec, status: { ...rest.status, conditions, ...status } };
}

function text(of: Cluster, told = ''): string {
  const { health, incidents } = clusterHealth(of, told);
  return [health, ...incidents.map(incidentSentence)].join(' | ');
}

describe('clusterHealth', () => {
  it.each([
    [{ total: 6, ready: 6, unhealthy: 0 }, 'Healthy, 6/6'],
    [{ total: 6, ready: 5, unhealthy: 0 }, 'Progressing, 5/6'],
    [{ total: 0, ready: 0, unhealthy: 0 }, 'Healthy'],
  ])('is Healthy only when all machines were counted as Ready: %j', (machines, expected) => {
    expect(healthCell(clusterHealth(clusterWith(WELL, { machines }), ''))).toBe(expected);
  });

  it.each<[name: string, conditions: Conditions, expected: string]>([
    ['is Healthy while machines and objects are', WELL, 'Healthy'],
    [
      'is Unhealthy with unhealthy machines although its commit is proven',
      [REACHABLE, UNHEALTHY, condition('Healthy', 'True')],
      'Unhealthy | 3 of 6 machines are unhealthy: a Unreachable. kubenode machine list --context prod',
    ],
    [
      'is Unknown while nothing tells how its machines are',
      [
        REACHABLE,
        condition('MachinesReady', 'Unknown', { message: 'not counted' }),
        condition('Healthy', 'True'),
      ],
      'Unknown | how its machines are is unknown: not counted. kubenode machine list --context prod',
    ],
    [
      'is Unhealthy when an object failed after it was applied',
      [
        REACHABLE,
        condition('MachinesReady', 'True'),
        condition('Healthy', 'False', { message: 'Deployment a: x' }),
      ],
      'Unhealthy | Deployment a: x. kubenode status prod',
    ],
    ['is Unknown while the cluster does not answer', [condition('Reachable', 'False'), UNHEALTHY], 'Unknown'],
    ['is Unknown before it was observed', [], 'Unknown'],
    [
      'is Healthy for a sync of an earlier version, which does not report machines',
      [REACHABLE, condition('Healthy', 'True')],
      'Healthy',
    ],
    [
      'is Progressing while an object is not ready yet',
      [
        REACHABLE,
        condition('MachinesReady', 'True'),
        condition('Healthy', 'Unknown', { message: 'Job a runs' }),
      ],
      'Progressing',
    ],
  ])('%s', (_, conditions, expected) => {
    expect(text(clusterWith(conditions))).toBe(expected);
  });

  it('does not repeat why the commit failed', () => {
    const failed = clusterWith([REACHABLE, condition('Healthy', 'False', { message: 'Deployment a: x' })]);
    expect(text(failed, 'failed: Deployment a: x')).toBe('Unhealthy');
  });

  it('names incidents before the machines, and no controllers once', () => {
    const message = 'no controllers run: why';
    const dark = { reason: 'ZoneDark', message: 'zone b is dark' } as const;
    const silent = { reason: 'NoControllers', message } as const;
    expect(text(clusterWith([REACHABLE, UNHEALTHY], { incidents: [dark] }))).toBe(
      'Unhealthy | zone b is dark. kubenode machine list --context prod | 3 of 6 machines are unhealthy: a Unreachable. kubenode machine list --context prod',
    );
    const unknown = condition('MachinesReady', 'Unknown', { message });
    expect(text(clusterWith([REACHABLE, unknown], { incidents: [silent] }))).toBe(
      `Unknown | ${message}. kubenode controllers --context prod`,
    );
  });

  it('names no context for the hub itself', () => {
    const hub = clusterWith([REACHABLE, UNHEALTHY]);
    const itself = { ...hub, spec: { ...hub.spec, connection: { inCluster: true } } };
    expect(clusterHealth(itself, '').incidents[0]?.hint).toBe('kubenode machine list');
  });

  it('shows how many machines are Ready beside the state', () => {
    expect(healthCell({ health: 'Unhealthy', machines: MACHINES })).toBe('Unhealthy, 3/6');
    expect(healthText({ health: 'Unhealthy', machines: MACHINES })).toBe('Unhealthy, 3 of 6 machines Ready');
    expect(healthCell({ health: 'Healthy' })).toBe('Healthy');
  });
});
