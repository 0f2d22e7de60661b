import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { encryptionProblems } from '../../../src/sync/judge/encrypted.ts';
import { encryptedObject } from '../../kube/sops/encrypted-files.ts';

const ENC = 'ENC[AES256_GCM,data:a,iv:a,tag:a,type:str]';
const SECRET: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db' } };

function as(apiVersion: string, kind: string): KubeObject {
  const edit = (text: string): string => text.replace('example.com/v1', apiVersion).replace('Database', kind);
  return encryptedObject('nested.yaml', edit);
}

describe('encryptionProblems', () => {
  it.each<[what: string, object: KubeObject]>([
    ['a Secret', encryptedObject('secret.yaml')],
    ['another kind', encryptedObject('nested.yaml')],
    ['a plain Secret', { ...SECRET, stringData: { a: 'b' } }],
    ['a ConfigMap that documents SOPS', { ...SECRET, kind: 'ConfigMap', data: { a: ENC } }],
    ['a SealedSecret', { ...SECRET, kind: 'SealedSecret', spec: { encryptedData: { a: 'AgB' } } }],
    [
      'a SopsSecret, which an operator decrypts',
      { ...as('isindir.github.com/v1alpha3', 'SopsSecret'), sops: { mac: 'a', kms: [] } },
    ],
  ])('has nothing against %s', (_, object) => {
    expect(encryptionProblems(object)).toEqual([]);
  });

  it.each<[what: string, object: KubeObject, reason: RegExp]>([
    ['a file that no key opens', encryptedObject('groups.yaml'), /^it has key groups/],
    [
      'a kind of kubenode',
      as('kubenode.dev/v1alpha1', 'Pipeline'),
      /^an encrypted Pipeline cannot be checked: move/,
    ],
    [
      'a CustomResourceDefinition',
      as('apiextensions.k8s.io/v1', 'CustomResourceDefinition'),
      /^an encrypted CustomResourceDefinition cannot be checked/,
    ],
    [
      'a value without metadata',
      { ...SECRET, stringData: { a: 'b', c: ENC } },
      /^stringData.c is encrypted, and sops.m/,
    ],
    [
      'data without metadata',
      { ...SECRET, data: { c: ENC }, sops: {} },
      /^data.c is encrypted, and sops.mac is mis/,
    ],
  ])('refuses %s', (_, object, reason) => {
    expect(encryptionProblems(object)).toEqual([expect.stringMatching(reason)]);
  });
});
