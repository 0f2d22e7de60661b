import { describe, expect, it } from 'vitest';
import { type CapacityPod, capacityPod } from '../../../src/defender/capacity/pod.ts';
import { createPodGroups, type PodGroups } from '../../../src/defender/capacity/pod-groups.ts';
import { podOf } from './builders.ts';

function apartPod(name: string, more: object = {}): CapacityPod {
  const term = { labelSelector: { matchLabels: { app: 'api' } }, topologyKey: 'rack', ...more };
  const terms = { requiredDuringSchedulingIgnoredDuringExecution: [term] };
  return capacityPod(podOf(name, 'a', {}, { affinity: { podAntiAffinity: terms } }));
}

function apart(groups: PodGroups, namespace: string): readonly (readonly string[])[] {
  return [...groups.apartFrom(namespace)].map(({ pods }) => [...pods].map(({ name }) => name));
}

describe('createPodGroups', () => {
  it('R28 holds replicas with one term together, and finds them by the namespace that they mean', () => {
    const groups = createPodGroups();
    groups.add(apartPod('api-1'));
    groups.add(apartPod('api-2'));
    groups.add(apartPod('db', { namespaces: ['shop', 'pay'] }));
    groups.add(apartPod('all', { namespaceSelector: {} }));
    expect(apart(groups, 'web')).toEqual([['web/api-1', 'web/api-2'], ['web/all']]);
    expect(apart(groups, 'pay')).toEqual([['web/db'], ['web/all']]);
    expect(apart(groups, 'other')).toEqual([['web/all']]);
  });

  it('R28 reads the Pods of the namespaces that a term means, or of all', () => {
    const groups = createPodGroups();
    const pod = apartPod('api-1');
    groups.add(pod);
    expect([...groups.inNamespaces(['web', 'none'])]).toEqual([pod]);
    expect([...groups.inNamespaces(['none'])]).toEqual([]);
    expect([...groups.inNamespaces(undefined)]).toEqual([pod]);
  });

  it('R28 forgets a Pod that is removed, and one that it never had', () => {
    const groups = createPodGroups();
    const pod = apartPod('api-1');
    groups.add(pod);
    groups.remove(pod);
    groups.remove(apartPod('api-2'));
    expect([apart(groups, 'web'), [...groups.inNamespaces(undefined)]]).toEqual([[], []]);
  });
});
