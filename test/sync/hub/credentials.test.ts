import { describe, expect, it } from 'vitest';
import { secretValue, secretVersion } from '../../../src/sync/hub/credentials.ts';
import { secretStore } from './secret-store.ts';

describe('secretValue', () => {
  const secrets = secretStore({ name: 'git', data: { token: 's3cret' } });

  it('decodes the value', () => {
    expect(secretValue(secrets, { name: 'git', key: 'token' }, 'Pipeline fleet')).toBe('s3cret');
  });

  it.each([
    [
      { name: 'other', key: 'token' },
      'Secret kubenode-system/other, which Pipeline fleet references, does not exist',
    ],
    [
      { name: 'git', key: 'key' },
      'Secret kubenode-system/git, which Pipeline fleet references, has no key key',
    ],
  ])('names the Secret, the key and the referencing object: %j', (ref, message) => {
    expect(() => secretValue(secrets, ref, 'Pipeline fleet')).toThrow(message);
  });
});

describe('secretVersion', () => {
  it('differs after a change of the Secret, and when it is missing', () => {
    const ref = { name: 'git', key: 'token' };
    const versions = [
      secretVersion(secretStore(), ref),
      secretVersion(secretStore({ name: 'git', resourceVersion: '1' }), ref),
      secretVersion(secretStore({ name: 'git', resourceVersion: '2' }), ref),
    ];
    expect(new Set(versions).size).toBe(3);
  });
});
