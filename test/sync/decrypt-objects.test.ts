import { describe, expect, it } from 'vitest';
import { SecretError } from '../../src/api/secrets/read.ts';
import type { KubeObject } from '../../src/kube/objects/object.ts';
import { SopsError } from '../../src/kube/sops/values.ts';
import { type DecryptionKeys, decryptObjects } from '../../src/sync/decrypt-objects.ts';
import type { RenderedObject } from '../../src/sync/rendered.ts';
import { encryptedObject, firstKeys } from '../kube/sops/encrypted-files.ts';

function rendered(object: KubeObject): RenderedObject {
  return { object, source: {} };
}

const PLAIN = rendered({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } });
const SECRET = rendered(encryptedObject('secret.yaml'));
const OTHER = rendered(encryptedObject('post-quantum.yaml'));

function failing(error: Error): DecryptionKeys {
  return {
    version: '',
    async read() {
      throw error;
    },
  };
}

describe('decryptObjects', () => {
  it('S29 reads the keys once for all encrypted objects, and keeps what cannot be decrypted apart', async () => {
    let reads = 0;
    const keys: DecryptionKeys = {
      version: '1',
      read() {
        reads += 1;
        return firstKeys();
      },
    };
    const found = await decryptObjects([PLAIN, SECRET, OTHER], keys);
    expect([...found.keys()]).toEqual([SECRET, OTHER]);
    expect(found.get(SECRET)).toMatchObject({ object: { kind: 'Secret', data: { 10: 'dGVu' } } });
    expect(found.get(OTHER)).toEqual({
      problem: expect.stringMatching(/^it is encrypted for age1pq1/) as string,
    });
    expect(reads).toBe(1);
  });

  it('reads no key without an encrypted object', async () => {
    expect(await decryptObjects([PLAIN], failing(new Error('read')))).toEqual(new Map());
  });

  it.each([
    new SecretError('Secret keys does not exist: create it'),
    new SopsError('line 1 is not an identity'),
  ])('gives the reason of missing keys to each object: %s', async (error) => {
    const found = await decryptObjects([SECRET, OTHER], failing(error));
    expect([...found.values()]).toEqual([{ problem: error.message }, { problem: error.message }]);
  });

  it('rejects when the reason is unknown, so that nothing is decided by it', async () => {
    await expect(decryptObjects([SECRET], failing(new Error('no memory')))).rejects.toThrow('no memory');
  });
});
