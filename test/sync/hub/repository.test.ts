import { describe, expect, it } from 'vitest';
import type { Pipeline } from '../../../src/api/generated/types.ts';
import { openRepository, repositoryVersion } from '../../../src/sync/hub/repository.ts';
import { tempFolder } from '../../support/temp.ts';
import { secretStore } from './secret-store.ts';

const SOURCE = { repository: 'https://git.example.com/fleet', ref: 'refs/heads/main', pollSeconds: 30 };

function pipeline(source: Partial<Pipeline['spec']['source']> = {}): Pipeline {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only the source is read
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Pipeline',
    metadata: { name: 'fleet' },
    spec: { source: { ...SOURCE, ...source } },
  } as unknown as Pipeline;
}

describe('repositoryVersion', () => {
  const withToken = pipeline({ credentialsRef: { name: 'git', key: 'token' } });
  const version = repositoryVersion(withToken, secretStore({ name: 'git' }));

  it.each([
    [
      'the repository',
      pipeline({ credentialsRef: { name: 'git', key: 'token' }, repository: 'https://other.example.com' }),
    ],
    ['the ref', pipeline({ credentialsRef: { name: 'git', key: 'token' }, ref: 'refs/heads/next' })],
    ['the interval', pipeline({ credentialsRef: { name: 'git', key: 'token' }, pollSeconds: 60 })],
    [
      'the host keys',
      pipeline({
        credentialsRef: { name: 'git', key: 'token' },
        hostKeys: ['git.example.com ssh-ed25519 A'],
      }),
    ],
    ['the references', pipeline()],
  ])('differs after a change of %s', (_, changed) => {
    expect(repositoryVersion(changed, secretStore({ name: 'git' }))).not.toBe(version);
  });

  it('differs after a change of the Secret, and only then', () => {
    expect(repositoryVersion(withToken, secretStore({ name: 'git' }))).toBe(version);
    expect(repositoryVersion(withToken, secretStore({ name: 'git', resourceVersion: '2' }))).not.toBe(
      version,
    );
    const other = secretStore({ name: 'git' }, { name: 'other', resourceVersion: '7' });
    expect(repositoryVersion(withToken, other)).toBe(version);
  });
});

describe('openRepository', () => {
  it.each([
    ['credentialsRef', /Secret kubenode-system\/git, which Pipeline fleet references, has no key token/],
    ['caRef', /Secret kubenode-system\/git, which Pipeline fleet references, has no key ca\.crt/],
  ])('names the missing key of %s', (field, message) => {
    const secrets = secretStore({ name: 'git', data: { password: 'x' } });
    const referencing = pipeline({ [field]: { name: 'git' } });
    expect(() => openRepository(referencing, secrets, tempFolder('git'))).toThrow(message);
  });
});
