import { describe, expect, it } from 'vitest';
import {
  foreignCluster,
  foreignMachine,
  trimForeign,
} from '../../../../src/controllers/following/clusterapi/contract.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { theirObject } from './objects.ts';

describe('the objects of Cluster API', () => {
  it('are read alike from v1beta1, where an unset field may be an empty text', () => {
    const { spec: _, ...rest } = theirObject(1);
    const old = {
      ...rest,
      apiVersion: 'cluster.x-k8s.io/v1beta1',
      spec: { clusterName: 'c', providerID: '', failureDomain: 'zone-a' },
      status: { nodeRef: { kind: 'Node', name: 'node-1', uid: 'u' } },
    };
    const { servedVersion, hasConditions, ...read } = foreignMachine(old);
    expect([servedVersion, hasConditions]).toEqual(['v1beta1', false]);
    expect({ ...foreignMachine(theirObject(1)), providerID: undefined }).toMatchObject(read);
  });

  it('have no field of another type than expected', () => {
    const { namespace, name } = theirObject(1).metadata;
    const odd = {
      apiVersion: 'cluster.x-k8s.io/v9',
      kind: 'Machine',
      metadata: { namespace: namespace ?? '', name },
      spec: { providerID: 7, clusterName: {} },
      status: { nodeRef: 'node-1' },
    };
    expect(foreignMachine(odd)).toMatchObject({ providerID: undefined, cluster: undefined, node: undefined });
    expect(foreignMachine(trimForeign({ ...odd, spec: null, status: 3 }))).toMatchObject({ node: undefined });
  });

  it('lose nothing that is read when they are made small', () => {
    const steady = { type: 'kubenode.dev/Steady', status: 'True', reason: 'Steady', message: 'm' };
    const conditions = [
      { type: 'Ready', status: 'True' },
      { ...steady, lastTransitionTime: 't' },
    ];
    const machine = { ...theirObject(1), status: { nodeRef: { name: 'node-1' }, conditions } };
    expect(foreignMachine(trimForeign(machine))).toEqual(foreignMachine(machine));
    expect(foreignMachine(machine).steady).toEqual({
      status: 'True',
      reason: 'Steady',
      message: 'm',
      since: 't',
    });
    expect(JSON.stringify(trimForeign(machine))).not.toContain('Ready');
    expect(foreignCluster(trimForeign(cluster({ paused: true })))).toMatchObject({ isPaused: true });
  });

  it.each([
    ['for a hook before the drain', 'True', 'WaitingForPreDrainHook', false],
    ['for no hook', 'True', 'DrainingNode', true],
    ['before it begins', 'False', 'NotDeleting', false],
  ])('wait in a deletion %s', (_, status, reason, expected) => {
    const conditions = [{ type: 'Deleting', status, reason }];
    const machine = { ...theirObject(1), status: { conditions } };
    expect([foreignMachine(machine).isDraining, foreignMachine(trimForeign(machine)).isDraining]).toEqual([
      expected,
      expected,
    ]);
  });

  it.each<[string, KubeObject, boolean]>([
    ['by its spec', cluster({ paused: true }), true],
    ['by its annotation', cluster({}, { 'cluster.x-k8s.io/paused': '' }), true],
    ['not by a text', cluster({ paused: 'true' }), false],
    ['not by default', cluster({}), false],
  ])('are paused %s', (_, object, expected) => {
    expect(foreignCluster(object).isPaused).toBe(expected);
  });
});

function cluster(spec: object, annotations?: Readonly<Record<string, string>>): KubeObject {
  const metadata = { namespace: 'fleet', name: 'c', ...(annotations && { annotations }) };
  return { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', metadata, spec };
}
