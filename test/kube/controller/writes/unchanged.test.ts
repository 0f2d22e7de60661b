import { expect, it } from 'vitest';
import { isUnchanged } from '../../../../src/kube/controller/writes/unchanged.ts';
import type { KubeObject, ManagedFields } from '../../../../src/kube/objects/object.ts';

const READY = { type: 'Ready', status: 'True' };
const OWN_READY = { 'k:{"type":"Ready"}': { '.': {}, 'f:type': {}, 'f:status': {} } };

function entry(fieldsV1: object, change: Partial<ManagedFields> = {}): ManagedFields {
  return { manager: 'ours', operation: 'Apply', fieldsV1, ...change };
}

function live(fields: object, ...managedFields: ManagedFields[]): KubeObject {
  const { metadata = {}, ...rest } = fields as { metadata?: object };
  return {
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name: 'a', uid: 'u', resourceVersion: '7', ...metadata, managedFields },
    ...rest,
  };
}

function intent(fields: object): KubeObject {
  const { metadata = {}, ...rest } = fields as { metadata?: object };
  return { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a', uid: 'u', ...metadata }, ...rest };
}

it.each<[name: string, desired: object, live: KubeObject, unchanged: boolean]>([
  ['the same value', { spec: { a: 1 } }, live({ spec: { a: 1 } }, entry({ 'f:spec': { 'f:a': {} } })), true],
  ['another value', { spec: { a: 2 } }, live({ spec: { a: 1 } }, entry({ 'f:spec': { 'f:a': {} } })), false],
  [
    'the same value beside fields of others',
    { spec: { a: 1 } },
    live({ spec: { a: 1, b: 2 } }, entry({ 'f:spec': { 'f:a': {} } })),
    true,
  ],
  [
    'a value that is so but not ours yet',
    { spec: { a: 1, b: 2 } },
    live({ spec: { a: 1, b: 2 } }, entry({ 'f:spec': { 'f:a': {} } })),
    false,
  ],
  [
    'a field that we own and do not send any more',
    { spec: { a: 1 } },
    live({ spec: { a: 1, b: 2 } }, entry({ 'f:spec': { 'f:a': {}, 'f:b': {} } })),
    false,
  ],
  ['a field that others removed', { spec: { a: 1 } }, live({}, entry({ 'f:spec': { 'f:a': {} } })), false],
  ['an object in which we own nothing', { spec: { a: 1 } }, live({ spec: { a: 1 } }), false],
  ['no fields, where we own nothing', {}, live({ spec: { a: 1 } }), true],
  ['no fields, where we own some', {}, live({ spec: { a: 1 } }, entry({ 'f:spec': { 'f:a': {} } })), false],
  [
    'what we own by update and not by apply',
    { spec: { a: 1 } },
    live({ spec: { a: 1 } }, entry({ 'f:spec': { 'f:a': {} } }, { operation: 'Update' })),
    false,
  ],
  [
    'what we own in the status only',
    { spec: { a: 1 } },
    live({ spec: { a: 1 } }, entry({ 'f:spec': { 'f:a': {} } }, { subresource: 'status' })),
    false,
  ],
  [
    'the same entry of a list',
    { conditions: [READY] },
    live({ conditions: [{ type: 'Other' }, READY] }, entry({ 'f:conditions': OWN_READY })),
    true,
  ],
  [
    'another value in an entry',
    { conditions: [{ ...READY, status: 'False' }] },
    live({ conditions: [READY] }, entry({ 'f:conditions': OWN_READY })),
    false,
  ],
  [
    'one more entry',
    { conditions: [READY, { type: 'Other', status: 'True' }] },
    live({ conditions: [READY] }, entry({ 'f:conditions': OWN_READY })),
    false,
  ],
  [
    'the same string in a set',
    { metadata: { finalizers: ['x'] } },
    live(
      { metadata: { finalizers: ['y', 'x'] } },
      entry({ 'f:metadata': { 'f:finalizers': { 'v:"x"': {} } } }),
    ),
    true,
  ],
  [
    'another string in a set',
    { metadata: { finalizers: ['z'] } },
    live({ metadata: { finalizers: ['x'] } }, entry({ 'f:metadata': { 'f:finalizers': { 'v:"x"': {} } } })),
    false,
  ],
  ['the same whole list', { args: [1, 2] }, live({ args: [1, 2] }, entry({ 'f:args': {} })), true],
  ['a whole list in another order', { args: [2, 1] }, live({ args: [1, 2] }, entry({ 'f:args': {} })), false],
  [
    'a form of ownership that is not understood',
    { args: [1] },
    live({ args: [1] }, entry({ 'f:args': { 'i:0': {} } })),
    false,
  ],
])('%s', (_, desired, object, unchanged) => {
  expect(isUnchanged(intent(desired), object, { fieldManager: 'ours' })).toBe(unchanged);
});

it('is never certain of an object whose managedFields were dropped', () => {
  const { managedFields: _, ...metadata } = live({}).metadata;
  expect(isUnchanged(intent({}), { ...live({}), metadata }, { fieldManager: 'ours' })).toBe(false);
});

it('compares the status with what was applied to the status', () => {
  const status = { phase: 'Ready' };
  const object = live({ status }, entry({ 'f:status': { 'f:phase': {} } }, { subresource: 'status' }));
  const applied = { fieldManager: 'ours', subresource: 'status' };
  expect(isUnchanged(intent({ status }), object, applied)).toBe(true);
});
