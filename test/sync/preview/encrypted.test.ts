import { describe, expect, it } from 'vitest';
import { encryptedLines } from '../../../src/sync/preview/encrypted.ts';
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
