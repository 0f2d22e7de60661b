import { ApiObject, type Chart, Testing } from 'cdk8s';
import { describe, expect, it } from 'vitest';
import { Fleet, MachineSet } from '../../src/constructs/index.ts';

const connection = { credentialsRef: { name: 'x' } };

function objectsOf(chart: Chart): unknown[] {
  return Testing.synth(chart) as unknown[];
}

describe('Fleet', () => {
  it('declares a cluster in the hub and its units by path', () => {
    const fleet = new Fleet();
    const cluster = fleet.cluster('test', { environment: 'test', connection, labels: { team: 'shop' } });
    const chart = cluster.unit('machines');
    const set = new MachineSet(chart, 'general', {
      metadata: { name: 'general' },
      spec: { replicas: 1, template: { infra: { provider: 'local' } } },
    });
    expect(set.node.path).toBe('test/machines/general');
    expect(objectsOf(fleet.hub('clusters'))).toEqual([
      {
        apiVersion: 'kubenode.dev/v1alpha1',
        kind: 'Cluster',
        metadata: { name: 'test', labels: { team: 'shop' } },
        spec: { environment: 'test', connection },
      },
    ]);
    expect(chart.node.path).toBe('test/machines');
    expect(objectsOf(chart)).toMatchObject([{ kind: 'MachineSet', metadata: { name: 'general' } }]);
    expect(cluster).toMatchObject({ name: 'test', environment: 'test', labels: { team: 'shop' } });
  });

  it('declares a hosted cluster, whose units are those of any other', () => {
    const fleet = new Fleet();
    const hosted = { driver: 'process', version: 'v1.36.3', ttlSecondsAfterReady: 3600 } as const;
    const deletion = { protection: false };
    const cluster = fleet.cluster('ci', { environment: 'test', hosted, deletion });
    expect(objectsOf(fleet.hub('clusters'))).toMatchObject([
      { metadata: { name: 'ci' }, spec: { environment: 'test', hosted, deletion } },
    ]);
    expect(cluster.unit('machines').node.path).toBe('ci/machines');
  });

  it('returns the same chart for the same unit', () => {
    const cluster = new Fleet().cluster('test', { environment: 'test', connection });
    expect(cluster.unit('web')).toBe(cluster.unit('web'));
    expect(cluster.unit('web')).not.toBe(cluster.unit('shop'));
  });

  it('refuses an invalid cluster and names the field', () => {
    const fleet = new Fleet();
    fleet.cluster('test', { environment: 'staging' as 'test', connection });
    expect(() => objectsOf(fleet.hub('clusters'))).toThrow(
      /\[hub\/clusters\/test\] Cluster test: spec\.environment/,
    );
  });

  it('refuses the same cluster twice', () => {
    const fleet = new Fleet();
    fleet.cluster('test', { environment: 'test', connection });
    expect(() => fleet.cluster('test', { environment: 'test', connection })).toThrow(/test/);
  });

  it('keeps the names of the program', () => {
    const chart = new Fleet().cluster('test', { environment: 'test', connection }).unit('web');
    const unnamed = new ApiObject(chart, 'unnamed', { apiVersion: 'v1', kind: 'Namespace' });
    expect(unnamed.name).toBe('test-web-unnamed');
  });

  it('has no facts outside of sync', () => {
    expect(new Fleet().facts).toEqual({});
  });
});
