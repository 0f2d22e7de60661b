import { expect, it } from 'vitest';
import { planAddFinalizer, planRemoveFinalizer } from '../../../../src/kube/controller/writes/finalizers.ts';
import type { KubeObject, Metadata } from '../../../../src/kube/objects/object.ts';

function thing(metadata: Partial<Metadata>): KubeObject {
  return { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a', resourceVersion: '7', ...metadata } };
}

it.each<[name: string, metadata: Partial<Metadata>, operations: unknown]>([
  [
    'adds the first one only to the version that was read',
    {},
    [
      { op: 'test', path: '/metadata/resourceVersion', value: '7' },
      { op: 'add', path: '/metadata/finalizers', value: ['ours'] },
    ],
  ],
  [
    'adds another one to the list that was read',
    { finalizers: ['theirs'] },
    [
      { op: 'test', path: '/metadata/finalizers', value: ['theirs'] },
      { op: 'add', path: '/metadata/finalizers/-', value: 'ours' },
    ],
  ],
  ['adds none that is there', { finalizers: ['ours'] }, undefined],
  ['adds none to an object that is being deleted', { deletionTimestamp: '2030-01-01T00:00:00Z' }, undefined],
])('%s', (_, metadata, operations) => {
  expect(planAddFinalizer(thing(metadata), 'ours')).toEqual(operations);
});

it('removes the one at its place, and tests that it is still there', () => {
  expect(planRemoveFinalizer(thing({ finalizers: ['theirs', 'ours'] }), 'ours')).toEqual([
    { op: 'test', path: '/metadata/finalizers/1', value: 'ours' },
    { op: 'remove', path: '/metadata/finalizers/1' },
  ]);
});

it('removes none that is not there', () => {
  expect(planRemoveFinalizer(thing({ finalizers: ['theirs'] }), 'ours')).toBeUndefined();
});
