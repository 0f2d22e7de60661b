import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { redactSecret } from '../../../src/kube/objects/redact-secret.ts';

function thing(
  fields: Readonly<Record<string, unknown>>,
  metadata: Readonly<Record<string, unknown>> = {},
): KubeObject {
  return { apiVersion: 'v1', kind: 'Thing', ...fields, metadata: { name: 'a', ...metadata } };
}

function secret(
  fields: Readonly<Record<string, unknown>>,
  metadata: Readonly<Record<string, unknown>> = {},
): KubeObject {
  return { ...thing(fields, metadata), kind: 'Secret' };
}

describe('redactSecret', () => {
  it('keeps the keys of a Secret and hides its values, including those in the annotation of kubectl', () => {
    const lastApplied = {
      'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"a":"YQ=="}}',
      other: '1',
    };
    expect(
      redactSecret(secret({ data: { a: 'YQ==' }, stringData: { b: 'c' } }, { annotations: lastApplied })),
    ).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: 'a',
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '***', other: '1' },
      },
      data: { a: '***' },
      stringData: { b: '***' },
    });
  });

  it('returns objects of other kinds unchanged', () => {
    const object = thing({ data: { a: '1' } });
    expect(redactSecret(object)).toBe(object);
  });
});
