import { describe, expect, it } from 'vitest';
import { KubeError } from '../../../../src/kube/client/errors.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import {
  conflictingFields,
  conflictingManagers,
  setsField,
} from '../../../../src/sync/apply/ownership/field-conflict.ts';

const object: KubeObject = {
  apiVersion: 'example.com/v1',
  kind: 'Sample',
  metadata: {
    name: 'a',
    annotations: { 'example.com/a.b[c]': 'x', example: 'y' },
    finalizers: ['example.com/one'],
  },
  spec: {
    replicas: 1,
    containers: [{ name: 'web', image: 'i' }, { name: 'a]"b' }],
    ports: [{ port: 80, nodePort: 1 }],
    atomic: [1, 2],
  },
};

describe('setsField', () => {
  it.each([
    ['.spec.replicas', true],
    ['.spec.paused', false],
    ['.spec', true],
    ['.metadata.annotations.example.com/a.b[c]', true],
    ['.metadata.annotations.example.com/a', false],
    ['.metadata.annotations.example', true],
    ['.spec.containers[name="web"].image', true],
    ['.spec.containers[name="web"].command', false],
    ['.spec.containers[name="other"].image', false],
    ['.spec.containers[name="a]\\"b"].name', true],
    ['.spec.ports[port=80,protocol="TCP"].nodePort', true],
    ['.spec.ports[port=443,protocol="TCP"].nodePort', false],
    ['.metadata.finalizers[="example.com/one"]', true],
    ['.metadata.finalizers[="example.com/two"]', false],
    ['.spec.atomic', true],
    ['.spec.atomic[0]', false],
    ['.spec.replicas.more', false],
    ['', false],
  ])('finds in a manifest what a conflict names: %s %s', (path, expected) => {
    expect(setsField(object, path)).toBe(expected);
  });
});

it('reads the fields of a conflict, and none of another error', () => {
  const causes = [
    { reason: 'FieldManagerConflict', field: '.spec.replicas' },
    { reason: 'FieldManagerConflict' },
  ];
  expect(conflictingFields(new KubeError('Conflict', 'x', { causes }))).toEqual(['.spec.replicas', '']);
  expect(conflictingFields(new KubeError('Conflict', 'x'))).toEqual([]);
});

it.each([
  ['conflict with "helm" using v1', ['helm']],
  ['conflict with "kubectl-edit" with subresource "scale" using apps/v1', ['kubectl-edit']],
  ['conflict with an unknown manager', []],
  ['a webhook quotes: conflict with "secret"', []],
])('reads the manager of a conflict: %s', (message, expected) => {
  const causes = [{ reason: 'FieldManagerConflict', field: '.data.a', message }];
  expect(conflictingManagers(new KubeError('Conflict', 'x', { causes }))).toEqual(expected);
  const others = [{ reason: 'FieldValueInvalid', message }];
  expect(conflictingManagers(new KubeError('Invalid', 'x', { causes: others }))).toEqual([]);
});
