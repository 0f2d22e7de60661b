import { describe, expect, it } from 'vitest';
import { revisionKey } from '../../../../src/sync/hub/revisions/key.ts';
import { secretStore } from '../../../support/secret-store.ts';

const TEXT = Buffer.alloc(32, 7).toString('base64');

function store(key: string, use = 'revisions'): ReturnType<typeof secretStore> {
  return secretStore({ name: 'kubenode-revisions', use, data: { key } });
}

describe('revisionKey', () => {
  it('S24 reads the key that the installation made', () => {
    expect(revisionKey(store(`${TEXT}\n`)).export()).toEqual(Buffer.alloc(32, 7));
  });

  it.each<[what: string, secrets: ReturnType<typeof secretStore>, reason: RegExp]>([
    [
      'there is no Secret',
      secretStore(),
      /kubenode-revisions, which kubenode sync references, does not exist/,
    ],
    ['the Secret has another use', store(TEXT, 'git'), /uses it as revisions: name another Secret/],
    ['the key is too short', store('AAAA'), /expected 32 bytes in base64, got 3\. Delete the Secret/],
  ])('S24 keeps no revision at all if %s', (_, secrets, reason) => {
    expect(() => revisionKey(secrets)).toThrow(reason);
  });
});
