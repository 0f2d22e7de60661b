import { describe, expect, it } from 'vitest';
import type { Pipeline } from '../../../src/api/generated/types.ts';
import { decryptionKeys } from '../../../src/sync/hub/decryption-keys.ts';
import { FIRST_IDENTITY, FIRST_RECIPIENT } from '../../kube/sops/encrypted-files.ts';
import { secretStore } from '../../support/secret-store.ts';

function pipeline(sopsKeysRef?: object): Pipeline {
  return { kind: 'Pipeline', metadata: { name: 'fleet' }, spec: { source: { sopsKeysRef } } } as Pipeline;
}

function store(value: string, use = 'sops', resourceVersion = '1'): ReturnType<typeof secretStore> {
  return secretStore({ name: 'age', use, resourceVersion, data: { 'age.agekey': value, next: value } });
}

const USED = pipeline({ name: 'age' });

describe('decryptionKeys', () => {
  it('S29 reads the identities of the Secret that the Pipeline names', async () => {
    const keys = await decryptionKeys(
      'fleet',
      USED,
      store(`# made by age-keygen\n${FIRST_IDENTITY}\n`),
    ).read();
    expect(keys.recipients).toEqual([FIRST_RECIPIENT]);
  });

  it('has another version after each change of the Secret and of its reference', () => {
    const versions = [
      decryptionKeys('fleet', USED, store('a')),
      decryptionKeys('fleet', USED, store('a', 'sops', '2')),
      decryptionKeys('fleet', pipeline({ name: 'age', key: 'next' }), store('a')),
      decryptionKeys('fleet', USED, secretStore()),
      decryptionKeys('fleet', pipeline(), store('a')),
    ].map(({ version }) => version);
    expect(new Set(versions).size).toBe(5);
    expect(decryptionKeys('fleet', USED, store('b')).version).toBe(versions[0]);
  });

  it.each<
    [what: string, used: Pipeline | undefined, secrets: ReturnType<typeof secretStore>, reason: RegExp]
  >([
    ['is not named', pipeline(), secretStore(), /Pipeline fleet has no keys: set spec.source.sopsKeysRef$/],
    ['belongs to a deleted Pipeline', undefined, secretStore(), /Pipeline fleet has no keys: set/],
    [
      'is missing',
      USED,
      secretStore(),
      /Secret kubenode-system\/age, which Pipeline fleet references, does not exist/,
    ],
    ['has another use', USED, store(FIRST_IDENTITY, 'git'), /uses it as sops: name another Secret/],
    ['has no such key', pipeline({ name: 'age', key: 'x' }), store('a'), /has no key x: add it/],
    [
      'has no identity',
      USED,
      store('s3cret'),
      /^key age.agekey of Secret kubenode-system\/age, which Pipeline fleet references: line 1 is not an age identity/,
    ],
  ])('explains that the Secret %s, without its value', async (_, used, secrets, reason) => {
    const error = await decryptionKeys('fleet', used, secrets)
      .read()
      .then(String, (thrown: unknown) => (thrown instanceof Error ? thrown.message : ''));
    expect(error).toMatch(reason);
    expect(error).not.toMatch(/s3cret|AGE-SECRET-KEY-1[0-9A-Z]/);
  });
});
