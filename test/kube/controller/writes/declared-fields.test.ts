import { describe, expect, it } from 'vitest';
import {
  type JsonPatchOperation,
  undeclaredFields,
  undeclaredPatches,
} from '../../../../src/kube/controller/writes/declared-fields.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';

const NAME = { name: 'm' };

describe('undeclaredFields', () => {
  it.each<[name: string, object: Record<string, unknown>, declared: string[], undeclared: string[]]>([
    ['a declared field', { spec: { hold: 1 } }, ['Machine.spec.hold'], []],
    ['all below a declared field', { spec: { a: { b: [1] } } }, ['Machine.spec.a'], []],
    ['another field', { spec: { hold: 1, role: 'x' } }, ['Machine.spec.hold'], ['spec.role']],
    ['a field of another kind', { spec: { hold: 1 } }, ['Node.spec.hold'], ['spec']],
    ['a parent of a declared field', { spec: 'x' }, ['Machine.spec.hold'], ['spec']],
    ['an empty parent of a declared field', { spec: {} }, ['Machine.spec.hold'], ['spec']],
    ['nothing declared', { status: { phase: 'x' } }, [], ['status']],
    ['identity only', { apiVersion: 'v', kind: 'Machine', metadata: { ...NAME, uid: 'u' } }, [], []],
    ['a label', { metadata: { ...NAME, labels: { a: 'b' } } }, [], ['metadata.labels']],
    ['a declared label', { metadata: { labels: { 'x/a': 'b' } } }, ['Machine.metadata.labels[x/a]'], []],
    [
      'another label',
      { metadata: { labels: { 'x/a': 'b', 'x/b': 'b' } } },
      ['Machine.metadata.labels[x/a]'],
      ['metadata.labels.x/b'],
    ],
    [
      'a declared condition',
      { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
      ['Machine.status.conditions[Ready]'],
      [],
    ],
    [
      'another condition',
      { status: { conditions: [{ type: 'Ready' }, { type: 'Healthy', status: 'True' }] } },
      ['Machine.status.conditions[Ready]'],
      ['status.conditions[Healthy]'],
    ],
    [
      'a field of every entry',
      {
        spec: {
          components: [
            { name: 'a', grant: '1' },
            { name: 'b', grant: '2' },
          ],
        },
      },
      ['Machine.spec.components[*].grant'],
      [],
    ],
    [
      'another field of an entry',
      { spec: { components: [{ name: 'a', grant: '1', version: '2' }] } },
      ['Machine.spec.components[*].grant'],
      ['spec.components[a].version'],
    ],
    [
      'an entry that nothing names',
      { spec: { sizes: [{ size: 1 }] } },
      ['Machine.spec.sizes[a]'],
      ['spec.sizes[0]'],
    ],
  ])('%s', (_, object, declared, undeclared) => {
    expect(undeclaredFields('Machine', object, declared)).toEqual(undeclared);
  });
});

describe('undeclaredPatches', () => {
  const node: KubeObject = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n', finalizers: ['ours', 'theirs'], labels: { 'x/a': '1' } },
    spec: { taints: [{ key: 'ours' }, { key: 'theirs' }], unschedulable: true },
  };

  it.each<[name: string, operation: JsonPatchOperation, declared: string, undeclared: string[]]>([
    ['a test of anything', { op: 'test', path: '/spec/x', value: 1 }, 'Node.spec.taints', []],
    ['a declared field', { op: 'remove', path: '/spec/unschedulable' }, 'Node.spec.unschedulable', []],
    ['another field', { op: 'remove', path: '/spec/x' }, 'Node.spec.unschedulable', ['spec.x']],
    ['the parent of a declared field', { op: 'remove', path: '/spec' }, 'Node.spec.taints', ['spec']],
    [
      'the replacement of a parent by what is declared',
      { op: 'replace', path: '/spec', value: { unschedulable: false } },
      'Node.spec.unschedulable',
      ['spec'],
    ],
    [
      'the addition of a parent that is there, which replaces it',
      { op: 'add', path: '/metadata/labels', value: { 'x/b': '2' } },
      'Node.metadata.labels[x/b]',
      ['metadata.labels'],
    ],
    [
      'the addition of a parent that is not there',
      { op: 'add', path: '/metadata/annotations', value: { 'x/b': '2' } },
      'Node.metadata.annotations[x/b]',
      [],
    ],
    ['an escaped key', { op: 'remove', path: '/metadata/labels/x~1a' }, 'Node.metadata.labels[x/a]', []],
    ['the removal of our entry', { op: 'remove', path: '/spec/taints/0' }, 'Node.spec.taints[ours]', []],
    [
      'the removal of their entry',
      { op: 'remove', path: '/spec/taints/1' },
      'Node.spec.taints[ours]',
      ['spec.taints[theirs]'],
    ],
    [
      'an entry that is added',
      { op: 'add', path: '/spec/taints/-', value: { key: 'ours' } },
      'Node.spec.taints[ours]',
      [],
    ],
    [
      'an entry of theirs that is added',
      { op: 'add', path: '/spec/taints/0', value: { key: 'theirs' } },
      'Node.spec.taints[ours]',
      ['spec.taints[theirs]'],
    ],
    [
      'their entry replaced by ours',
      { op: 'replace', path: '/spec/taints/1', value: { key: 'ours' } },
      'Node.spec.taints[ours]',
      ['spec.taints[theirs]'],
    ],
    [
      'a field inside an entry',
      { op: 'replace', path: '/spec/taints/1/key', value: 'x' },
      'Node.spec.taints[ours]',
      ['spec.taints[theirs].key'],
    ],
    ['our finalizer', { op: 'remove', path: '/metadata/finalizers/0' }, 'Node.metadata.finalizers[ours]', []],
    [
      'their finalizer',
      { op: 'remove', path: '/metadata/finalizers/1' },
      'Node.metadata.finalizers[ours]',
      ['metadata.finalizers[theirs]'],
    ],
  ])('%s', (_, operation, declared, undeclared) => {
    expect(undeclaredPatches(node, [operation], [declared])).toEqual(undeclared);
  });
});
