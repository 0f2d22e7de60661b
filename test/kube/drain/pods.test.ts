import { expect, it } from 'vitest';
import { podName, skipReason, uidOf } from '../../../src/kube/drain/pods.ts';
import type { KubeObject, OwnerReference } from '../../../src/kube/objects/object.ts';
import { drainPod } from '../../support/kube/drain-bed.ts';

const GPU = 'nvidia.com/gpu';

function owned(kind: string, change: Partial<OwnerReference> = {}): KubeObject {
  const owner = { apiVersion: 'apps/v1', kind, name: 'o', uid: 'u', controller: true, ...change };
  return drainPod('a', { ownerReferences: [owner] });
}

function requesting(field: 'containers' | 'initContainers', requests: unknown): KubeObject {
  const containers = [{ name: 'other' }, { name: 'main', resources: { requests } }];
  return { ...drainPod('a'), spec: { nodeName: 'n1', [field]: containers } };
}

const STATIC = drainPod('a', { annotations: { 'kubernetes.io/config.mirror': 'x' } });

it.each<[name: string, pod: KubeObject, reason: string | undefined]>([
  ['a pod without an owner leaves', drainPod('a'), undefined],
  ['a pending pod leaves', drainPod('a', { phase: 'Pending' }), undefined],
  ['a pod of a ReplicaSet leaves', owned('ReplicaSet'), undefined],
  ['a static pod stays', STATIC, 'Static'],
  ['a pod that belongs to its Node stays', owned('Node', { apiVersion: 'v1' }), 'Static'],
  ['a pod of a DaemonSet stays', owned('DaemonSet'), 'DaemonSet'],
  ['a pod that a DaemonSet does not control leaves', owned('DaemonSet', { controller: false }), undefined],
  ['a pod of a DaemonSet of another group leaves', owned('DaemonSet', { apiVersion: 'x.dev/v1' }), undefined],
  ['a pod that succeeded stays', drainPod('a', { phase: 'Succeeded' }), 'Completed'],
  ['a pod that failed stays', drainPod('a', { phase: 'Failed' }), 'Completed'],
])('%s', (_, pod, reason) => {
  expect(skipReason(pod, { deadNode: 'Wait' }, true)).toBe(reason);
});

it.each<[name: string, pod: KubeObject, reason: string | undefined]>([
  ['a pod that requests it leaves', requesting('containers', { [GPU]: '2' }), undefined],
  ['an init container counts', requesting('initContainers', { [GPU]: 1 }), undefined],
  ['a request of zero does not count', requesting('containers', { [GPU]: '0' }), 'NotRequested'],
  ['another resource does not count', requesting('containers', { cpu: '1' }), 'NotRequested'],
  [
    'the request of the whole pod counts',
    { ...drainPod('a'), spec: { nodeName: 'n1', resources: { requests: { [GPU]: '1' } } } },
    undefined,
  ],
  ['a static pod stays, whatever it requests', STATIC, 'Static'],
])('of one resource only: %s', (_, pod, reason) => {
  expect(skipReason(pod, { deadNode: 'Wait', requests: GPU }, true)).toBe(reason);
});

it('leaves the pods of a dead node only when asked to', () => {
  expect(skipReason(drainPod('a'), { deadNode: 'Skip' }, false)).toBe('DeadNode');
  expect(skipReason(drainPod('a'), { deadNode: 'Skip' }, true)).toBeUndefined();
  expect(skipReason(drainPod('a'), { deadNode: 'Wait' }, false)).toBeUndefined();
});

it('refuses a pod without a UID, which an eviction could not be limited to', () => {
  expect(uidOf(drainPod('a'))).toBe('uid-a');
  expect(() => uidOf(drainPod('a', { uid: '' }))).toThrow('Pod shop/a: its uid is missing');
  expect(podName(drainPod('a'))).toBe('shop/a');
});
