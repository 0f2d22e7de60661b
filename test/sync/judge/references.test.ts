import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createReferenceCheck } from '../../../src/sync/judge/references.ts';

function object(kind: string, name: string, spec: object = {}): KubeObject {
  return { apiVersion: 'kubenode.dev/v1alpha1', kind, metadata: { name }, spec };
}

function set(...components: readonly object[]): KubeObject {
  return object('MachineComponentSet', 'general', { components });
}

const KUBELET = { name: 'kubelet', componentRef: 'kubelet-1.36.4' };
const DECLARED = ['kubelet-1.36.3', 'kubelet-1.36.2', 'node-exporter-1.0.0'];

describe('createReferenceCheck', () => {
  it.each<[what: string, checked: KubeObject, problem: string | undefined, declared?: readonly string[]]>([
    [
      'refuses a version that the commit does not declare',
      set(KUBELET),
      'spec.components[0].componentRef: MachineComponent kubelet-1.36.4 is not declared for this cluster: use one of kubelet-1.36.2, kubelet-1.36.3, or declare it',
    ],
    [
      'refuses a component without any version',
      set({ name: 'containerd', componentRef: 'containerd-2.0.0' }),
      'spec.components[0].componentRef: MachineComponent containerd-2.0.0 is not declared for this cluster: declare it',
    ],
    ['accepts a declared version', set({ ...KUBELET, componentRef: 'kubelet-1.36.3' }), undefined],
    ['accepts any version of a component to remove', set({ ...KUBELET, state: 'Absent' }), undefined],
    ['leaves other kinds alone', object('Other', 'x', { components: [KUBELET] }), undefined],
    ['leaves malformed entries to the schema', set({}, { componentRef: 3 }), undefined],
  ])('FST-3 %s in a component set', (_, checked, problem, declared = DECLARED) => {
    const check = createReferenceCheck(declared.map((name) => object('MachineComponent', name)));
    const found = check(checked).map(({ path, message }) => `${path}: ${message}`);
    expect(found).toEqual(problem === undefined ? [] : [problem]);
  });

  it('FST-3 lists only a few versions of a component that has many', () => {
    const many = Array.from({ length: 9 }, (_, index) => object('MachineComponent', `kubelet-1.${index}`));
    expect(createReferenceCheck(many)(set(KUBELET))[0]?.message).toContain('kubelet-1.3, kubelet-1.4, …, or');
  });
});
