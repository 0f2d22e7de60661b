import { describe, expect, it } from 'vitest';
import { ownedKeys } from '../../../../src/controllers/machine/node/owned-keys.ts';
import {
  planTaint,
  planTaintHandOver,
  planUntaint,
  taintGrants,
  taintState,
} from '../../../../src/controllers/remedyjob/plan/owned-taints.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { patchJson } from '../../../../src/sim/api-server/json-patch.ts';
import { jobNode } from '../jobs.ts';

const DISK = { key: 'kubenode.dev/disk', effect: 'NoSchedule' } as const;
const GPU = { key: 'gpu', effect: 'NoSchedule' } as const;
/** The Machine owns one taint of the Node. */
const OF_MACHINE = { 'kubenode.dev/owned': '{"annotations":[],"labels":["a"],"taints":["gpu:NoSchedule"]}' };

function patched(node: KubeObject, operations: Parameters<typeof patchJson>[1]): KubeObject {
  return patchJson(node, operations) as KubeObject;
}

function taintsOn(node: KubeObject): unknown {
  return (node['spec'] as { readonly taints?: unknown }).taints;
}

describe('taints of jobs', () => {
  const node = jobNode({ annotations: OF_MACHINE, spec: { taints: [GPU] } });
  const tainted = patched(node, planTaint(node, DISK, 'g-1'));

  it('R34 are recorded with the grant, beside those of the Machine', () => {
    expect(taintsOn(tainted)).toEqual([GPU, DISK]);
    expect(ownedKeys(tainted)).toEqual(ownedKeys(node));
    expect([taintState(tainted, DISK, 'g-1'), taintState(tainted, DISK, 'g-2')]).toEqual(['Ours', 'Foreign']);
    expect(taintState(tainted, { ...DISK, effect: 'NoExecute' }, 'g-1')).toBe('None');
  });

  it('name the grants that own taints, not those of entries without taints', () => {
    const jobs = { 'g-1': ['a:NoSchedule'], 'g-2': [], 'g-3': 'x' };
    const odd = jobNode({ annotations: { 'kubenode.dev/owned': JSON.stringify({ jobs }) } });
    expect(taintGrants(odd)).toEqual(['g-1']);
  });

  it('R34 are removed without a trace, and no others', () => {
    expect(planUntaint(tainted, 'g-2')).toEqual([]);
    const restored = patched(tainted, planUntaint(tainted, 'g-1'));
    expect([taintsOn(restored), restored.metadata.annotations]).toEqual([[GPU], OF_MACHINE]);
    expect(planUntaint(tainted, 'g-1', (id) => id.startsWith('gpu:'))).toEqual([]);
  });

  it('stay when they are handed to a person, who owns them then', () => {
    const handed = patched(tainted, planTaintHandOver(tainted, 'g-1'));
    expect([taintsOn(handed), handed.metadata.annotations]).toEqual([[GPU, DISK], OF_MACHINE]);
    expect(planUntaint(handed, 'g-1')).toEqual([]);
    expect(planTaintHandOver(handed, 'g-1')).toEqual([]);
  });

  it('only lose their record when somebody else has removed them', () => {
    const removed = { ...tainted, spec: { taints: [GPU] } };
    const restored = patched(removed, planUntaint(removed, 'g-1'));
    expect([taintsOn(restored), restored.metadata.annotations]).toEqual([[GPU], OF_MACHINE]);
  });

  it.each([{ 'kubenode.dev/owned': 'no JSON' }, undefined])(
    'can be set on a Node with the annotations %j',
    (annotations) => {
      const bare = jobNode();
      const { annotations: _, ...metadata } = bare.metadata;
      const found = { ...bare, metadata: { ...metadata, ...(annotations ? { annotations } : {}) } };
      const after = patched(found, planTaint(found, DISK, 'g-1'));
      expect([taintsOn(after), taintState(after, DISK, 'g-1')]).toEqual([[DISK], 'Ours']);
    },
  );
});
