import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { secretProblem, sentForm } from '../../../src/kube/sops/sent-form.ts';

const SECRET: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db' } };

describe('sentForm', () => {
  it.each<[what: string, object: KubeObject, expected: KubeObject]>([
    ['removes the metadata of SOPS', { ...SECRET, sops: { mac: 'x' } }, SECRET],
    ['sends stringData as data', { ...SECRET, stringData: { a: 'b' } }, { ...SECRET, data: { a: 'Yg==' } }],
    [
      'prefers stringData, as the API server does',
      { ...SECRET, data: { a: 'YQ==', c: 'Yw==' }, stringData: { a: 'b' } },
      { ...SECRET, data: { a: 'Yg==', c: 'Yw==' } },
    ],
    [
      'keeps stringData of another kind',
      { ...SECRET, kind: 'ConfigMap', stringData: { a: 'b' } },
      { ...SECRET, kind: 'ConfigMap', stringData: { a: 'b' } },
    ],
  ])('%s', (_, object, expected) => {
    expect(sentForm(object)).toEqual(expected);
  });
});

describe('secretProblem', () => {
  it.each<[what: string, object: KubeObject, expected: string | undefined]>([
    ['base64', { ...SECRET, data: { a: 'YQ==', b: '', c: 'YWJj' } }, undefined],
    ['no data', SECRET, undefined],
    ['another kind', { ...SECRET, kind: 'ConfigMap', data: { a: 'plain' } }, undefined],
    [
      'a number',
      { ...SECRET, data: { a: 1 } },
      'the value of a is a number: quote it, and encrypt the file again',
    ],
    [
      'plain text',
      { ...SECRET, data: { a: 'pass word' } },
      'data.a is not base64: use stringData for plain text',
    ],
  ])('checks %s', (_, object, expected) => {
    expect(secretProblem(object)).toBe(expected);
  });
});
