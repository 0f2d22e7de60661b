import { describe, expect, it } from 'vitest';
import { KubeError, type KubeErrorCode } from '../../../../src/kube/client/errors.ts';
import { objectIdOf } from '../../../../src/kube/objects/object-id.ts';
import { canReplace } from '../../../../src/sync/apply/replace/immutable.ts';
import { configMap, namespace } from '../fixtures.ts';

const allowed = { annotations: { 'kubenode.dev/replace': 'Allowed' } };
const { metadata, ...rest } = configMap('a');
const object = { ...rest, metadata: { ...metadata, ...allowed } };

function answer(
  status: number,
  reason: string,
  causes: readonly (readonly [reason: string, field: string, message: string])[] = [],
): KubeError {
  const code: KubeErrorCode = status === 409 ? 'Conflict' : 'Invalid';
  return new KubeError(code, 'refused', {
    status,
    reason,
    causes: causes.map(([why, field, message]) => ({ reason: why, field, message })),
  });
}

const immutable = answer(422, 'Invalid', [
  ['FieldValueInvalid', 'spec.selector', 'Invalid value: x: field is immutable'],
]);

describe('canReplace', () => {
  it.each([
    ['a selector', 'FieldValueInvalid', 'spec.selector', 'Invalid value: {"a":"b"}: field is immutable'],
    [
      'data of an immutable ConfigMap',
      'FieldValueForbidden',
      'data',
      'Forbidden: field is immutable when `immutable` is set',
    ],
    [
      'a StatefulSet',
      'FieldValueForbidden',
      'spec',
      "Forbidden: updates to statefulset spec for fields other than 'replicas' are forbidden",
    ],
    [
      'an address',
      'FieldValueInvalid',
      'spec.clusterIPs[0]',
      'Invalid value: []string: may not change once set',
    ],
  ])('replaces where the server reports that %s is immutable', (_name, reason, field, message) => {
    expect(
      canReplace({ object, id: objectIdOf(object) }, answer(422, 'Invalid', [[reason, field, message]])),
    ).toBe(true);
  });

  it.each<[name: string, error: KubeError]>([
    ['a conflict of versions', answer(409, 'Conflict')],
    [
      'a conflict of managers',
      answer(409, 'Conflict', [['FieldManagerConflict', '.data.a', 'conflict with "x"']]),
    ],
    ['a webhook that denies the request', answer(422, 'Invalid')],
    ['a quota', new KubeError('Forbidden', 'exceeded quota', { status: 403, reason: 'Forbidden' })],
    [
      'a wrong value',
      answer(422, 'Invalid', [['FieldValueInvalid', 'spec.replicas', 'must be greater than or equal to 0']]),
    ],
    ['a missing value', answer(422, 'Invalid', [['FieldValueRequired', 'spec.x', 'Required value']])],
    [
      'an unsupported value',
      answer(422, 'Invalid', [['FieldValueNotSupported', 'spec.x', 'field is immutable']]),
    ],
    [
      'one wrong value beside an immutable one',
      answer(422, 'Invalid', [
        ['FieldValueInvalid', 'spec.selector', 'field is immutable'],
        ['FieldValueInvalid', 'spec.replicas', 'must be positive'],
      ]),
    ],
    [
      'a cause without a field',
      new KubeError('Invalid', 'x', {
        status: 422,
        reason: 'Invalid',
        causes: [{ reason: 'FieldValueInvalid', message: 'field is immutable' }],
      }),
    ],
    [
      'the same message in another kind of error',
      new KubeError('Invalid', 'field is immutable', { status: 400, reason: 'BadRequest' }),
    ],
  ])('never replaces because of %s', (_name, error) => {
    expect(canReplace({ object, id: objectIdOf(object) }, error)).toBe(false);
  });

  it('needs the annotation on this object, and never replaces a protected kind', () => {
    const plain = configMap('a');
    expect(canReplace({ object: plain, id: objectIdOf(plain) }, immutable)).toBe(false);
    const protectedObject = { ...namespace('web'), metadata: { name: 'web', ...allowed } };
    expect(canReplace({ object: protectedObject, id: objectIdOf(protectedObject) }, immutable)).toBe(false);
  });
});
