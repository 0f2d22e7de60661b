import { describe, expect, it } from 'vitest';
import { objectIdOf, objectKey } from '../../../src/kube/objects/object-id.ts';
import { decryptedLines, encryptedKeys, encryptedLines } from '../../../src/sync/preview/encrypted.ts';
import { encryptedObject } from '../../kube/sops/encrypted-files.ts';

const SECRET = encryptedObject('secret.yaml');
const NESTED = encryptedObject('nested.yaml');

function changePort(text: string): string {
  const changed = text.replace('replicas: 3', 'replicas: 4');
  return changed.replace(/port: ENC\[AES256_GCM,data:./, 'port: ENC[AES256_GCM,data:_');
}

function changeTime(text: string): string {
  return text.replace(/lastmodified: ".*"/, 'lastmodified: "2027-01-01T00:00:00Z"');
}

describe('encryptedLines', () => {
  it('names the number of keys of a new object, and nothing else', () => {
    expect(encryptedLines(undefined, SECRET)).toEqual(['encrypted to 2 keys']);
    expect(encryptedLines(undefined, NESTED)).toEqual(['encrypted to 1 key']);
  });

  it('has nothing to say about the same object, and about one that is not encrypted', () => {
    expect(encryptedLines(SECRET, SECRET)).toEqual([]);
    expect(encryptedLines(undefined, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } })).toEqual(
      [],
    );
  });

  it('names encrypted fields that change without their text, and shows plain ones', () => {
    expect(encryptedLines(NESTED, encryptedObject('nested.yaml', changePort))).toEqual([
      '~ spec.data.port: *** → ***',
      '~ spec.public.replicas: 3 → 4',
      'encrypted to 1 key',
    ]);
  });

  it('masks a Secret that becomes encrypted, and whose plain value is known', () => {
    const plain = { ...SECRET, sops: undefined, stringData: { z: 'known' } };
    const lines = encryptedLines(plain, SECRET);
    expect(lines).toContain('~ stringData.z: *** → ***');
    expect(lines.join()).not.toMatch(/known|ENC\[/);
  });

  it('masks the plain value that a field of any kind had before it was encrypted', () => {
    const plain = {
      ...NESTED,
      sops: undefined,
      spec: { ...(NESTED['spec'] as object), data: { port: 'known' } },
    };
    const lines = encryptedLines(plain, NESTED);
    expect(lines).toContain('~ spec.data.port: *** → ***');
    expect(lines.join()).not.toContain('known');
  });

  it('says that only the encryption changed, as after the keys were replaced', () => {
    expect(encryptedLines(SECRET, encryptedObject('secret.yaml', changeTime))).toEqual([
      'encrypted to 2 keys: only the encryption changed',
    ]);
  });
});

describe('S22 S29 an object that the commit before encrypts', () => {
  it('is found by the key that it has in the cluster, whatever its kind', () => {
    const plain = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'b' } };
    const objects = [SECRET, NESTED, plain].map((object) => ({ object, source: {} }));
    const target = { target: 'c1', digest: 'd', units: [{ unit: 'web', digest: 'd', objects }] };
    expect(encryptedKeys(target)).toEqual(
      new Set([SECRET, NESTED].map((object) => objectKey(objectIdOf(object)))),
    );
    expect(encryptedKeys(undefined)).toEqual(new Set());
  });

  it('shows neither values nor paths of what the cluster has, but that it changes', () => {
    const field = {
      path: 'spec.users[canary].role',
      change: 'changed',
      before: 'canary',
      after: 'x',
    } as const;
    expect(decryptedLines([])).toEqual([]);
    expect(decryptedLines([field])).toEqual([
      '1 field changes, not shown: the commit before encrypts the object',
    ]);
    expect(decryptedLines([field, field])).toEqual([
      '2 fields change, not shown: the commit before encrypts the object',
    ]);
  });
});
