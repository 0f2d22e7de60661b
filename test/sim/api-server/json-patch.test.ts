import { describe, expect, it } from 'vitest';
import { patchJson } from '../../../src/sim/api-server/json-patch.ts';

const NODE = { metadata: { annotations: { 'kubenode.dev/x': '1' }, finalizers: ['a', 'b'] }, spec: {} };

describe('patchJson', () => {
  it('adds and removes fields, and entries of lists', () => {
    const patched = patchJson(NODE, [
      { op: 'test', path: '/metadata/finalizers/0', value: 'a' },
      { op: 'remove', path: '/metadata/finalizers/0' },
      { op: 'add', path: '/metadata/finalizers/-', value: 'c' },
      { op: 'remove', path: '/metadata/annotations/kubenode.dev~1x' },
      { op: 'add', path: '/spec/unschedulable', value: false },
      { op: 'replace', path: '/spec/unschedulable', value: true },
    ]);
    expect(patched).toEqual({
      metadata: { annotations: {}, finalizers: ['b', 'c'] },
      spec: { unschedulable: true },
    });
  });

  it('refuses what is not as it was tested, and a field that is not there', () => {
    const test = { op: 'test', path: '/metadata/annotations/kubenode.dev~1x', value: '2' } as const;
    expect(() => patchJson(NODE, [test])).toThrow('test /metadata/annotations/kubenode.dev~1x failed');
    expect(patchJson(NODE, [{ ...test, value: '1' }])).toBe(NODE);
    const missing = { op: 'remove', path: '/spec/unschedulable' } as const;
    expect(() => patchJson(NODE, [missing])).toThrow('remove /spec/unschedulable: no such path');
  });
});
