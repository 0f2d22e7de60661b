import { describe, expect, it } from 'vitest';
import { patchDocument } from '../../../src/sim/rollout/json-patch.ts';

const NODE = { metadata: { annotations: { 'kubenode.dev/x': '1' }, finalizers: ['a', 'b'] }, spec: {} };

describe('patchDocument', () => {
  it('adds and removes fields, and entries of lists', () => {
    const patched = patchDocument(NODE, [
      { op: 'test', path: '/metadata/finalizers/0', value: 'a' },
      { op: 'remove', path: '/metadata/finalizers/0' },
      { op: 'add', path: '/metadata/finalizers/-', value: 'c' },
      { op: 'remove', path: '/metadata/annotations/kubenode.dev~1x' },
      { op: 'add', path: '/spec/unschedulable', value: true },
    ]);
    expect(patched).toEqual({
      metadata: { annotations: {}, finalizers: ['b', 'c'] },
      spec: { unschedulable: true },
    });
  });

  it('refuses what is not as it was tested, and a field that is not there', () => {
    const test = { op: 'test', path: '/metadata/annotations/kubenode.dev~1x', value: '2' } as const;
    expect(() => patchDocument(NODE, [test])).toThrow('test /metadata/annotations/kubenode.dev~1x failed');
    const missing = { op: 'remove', path: '/spec/unschedulable' } as const;
    expect(() => patchDocument(NODE, [missing])).toThrow('remove /spec/unschedulable: no such field');
  });
});
