import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../../src/api/generated/resources.ts';
import { concernsRollouts, withChange } from '../../../../src/cli/plan/rollouts/fleet.ts';
import { objectIdOf } from '../../../../src/kube/objects/object-id.ts';
import { configMap } from '../../../support/builders.ts';
import { kubelet, kubeletSet, rolloutFleet, settledMachine } from './rollout-fleet.ts';

function names(objects: readonly { readonly metadata: { readonly name: string } }[]): readonly string[] {
  return objects.map(({ metadata }) => metadata.name);
}

describe('concernsRollouts', () => {
  it.each([
    ['a set', { written: [kubeletSet('1.36.3')], deleted: [] }, true],
    ['a version', { written: [kubelet('1.36.3')], deleted: [] }, true],
    ['a deleted machine', { written: [], deleted: [objectIdOf(settledMachine('m-1'))] }, true],
    ['another object', { written: [configMap('a')], deleted: [objectIdOf(configMap('b'))] }, false],
    [
      'a kind of that name in another group',
      { written: [{ ...settledMachine('m-1'), apiVersion: 'cluster.x-k8s.io/v1beta1' }], deleted: [] },
      false,
    ],
  ])('is right about %s', (_, change, expected) => {
    expect(concernsRollouts(change)).toBe(expected);
  });
});

describe('withChange', () => {
  it('has what the commit writes, and not what it deletes', () => {
    const fleet = rolloutFleet(3);
    const next = kubeletSet('1.36.3');
    const id = { group: MACHINES.group, kind: MACHINES.kind, namespace: '', name: 'm-1' };
    const after = withChange(fleet, {
      written: [next, kubelet('1.36.4'), configMap('a')],
      deleted: [id, { ...id, kind: 'MachineSet', name: 'm-2' }],
    });
    expect(after.sets).toEqual([next]);
    expect(names(after.components)).toEqual(['kubelet-1.35.4', 'kubelet-1.36.3', 'kubelet-1.36.4']);
    expect(names(after.machines)).toEqual(['m-0', 'm-2']);
  });
});
