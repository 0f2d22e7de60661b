import { describe, expect, it } from 'vitest';
import type { Pipeline } from '../../../src/api/generated/types.ts';
import { openRepository, repositoryVersion } from '../../../src/sync/hub/repository.ts';
import { createStandInApp } from '../../support/git-host/github-app.ts';
import { testHostTokens } from '../../support/git-host/host-tokens.ts';
import { secretStore } from '../../support/secret-store.ts';
import { tempFolder } from '../../support/temp.ts';

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

function open(source: Partial<Pipeline['spec']['source']>, use: string, value = 'x'): string {
  const secrets = secretStore({ name: 'git', data: { token: value }, use });
  try {
    return openRepository(pipeline(source), { secrets, tokens: testHostTokens() }, tempFolder('git')).display;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('openRepository', () => {
  const TOKEN = { name: 'git', key: 'token' };
  const SSH = 'git@git.example.com:platform/fleet';

  it.each([
    ['credentialsRef', 'git; git.example.com', /Secret kubenode-system\/git, .* has no key token/],
    ['caRef', 'git-ca', /Secret kubenode-system\/git, which Pipeline fleet references, has no key ca\.crt/],
  ])('names the missing key of %s', (field, use, message) => {
    const secrets = secretStore({ name: 'git', data: { password: 'x' }, use });
    const referencing = pipeline({ [field]: { name: 'git' } });
    expect(() =>
      openRepository(referencing, { secrets, tokens: testHostTokens() }, tempFolder('git')),
    ).toThrow(message);
  });

  it.each([
    ['https', 'https://git.example.com/fleet', 'git.example.com', 'token'],
    ['https with a port', 'https://git.example.com:8443/fleet', 'git.example.com:8443', 'user:password'],
    ['ssh', SSH, 'git.example.com', '-----BEGIN OPENSSH PRIVATE KEY-----\nx'],
    [
      'an ssh URL',
      'ssh://git@git.example.com/x',
      'git.example.com',
      '-----BEGIN OPENSSH PRIVATE KEY-----\nx',
    ],
    ['an ssh URL with a port', 'ssh://git@a:2222/x', 'a:2222', '-----BEGIN OPENSSH PRIVATE KEY-----\nx'],
  ])('SAF-8 uses a credential over %s for the host that its Secret permits', (_, repository, host, value) => {
    expect(open({ repository, credentialsRef: TOKEN }, `git; ${host}`, value)).toBe(repository);
    expect(open({ repository, credentialsRef: TOKEN }, `git; not.${host}`, value)).toContain(
      'does not permit',
    );
    expect(open({ repository, credentialsRef: TOKEN }, `kubeconfig; ${host}`, value)).toContain(
      '"kubeconfig"',
    );
  });

  it.each([
    ['a kubeconfig', SOURCE.repository, 'apiVersion: v1\nkind: Config\n', 'is not a token'],
    ['a kubeconfig in JSON', SOURCE.repository, '{"kind":"Config"}', 'is not a token'],
    ['a private key', SOURCE.repository, '-----BEGIN OPENSSH PRIVATE KEY-----\nx', 'is not a token'],
    ['a kubeconfig as ssh key', SSH, 'apiVersion: v1\nkind: Config\n', 'is not a private key'],
  ])(
    'sends %s to no git server, even if its Secret permits it by mistake',
    (_, repository, value, message) => {
      const source = { repository, credentialsRef: TOKEN };
      const found = open(source, 'git; git.example.com', value);
      expect(found).toContain(message);
      expect(found).not.toContain('Config');
    },
  );

  it('takes certificate authorities from no kubeconfig', () => {
    expect(open({ caRef: TOKEN }, 'kubeconfig')).toContain('"kubeconfig"');
  });

  it('asks a Secret for no host when a repository is read from a file', () => {
    expect(open({ repository: 'file:///fleet', credentialsRef: TOKEN }, 'git')).toBe('file:///fleet');
  });

  it('S26 reads with a GitHub App that may get tokens for the host and send them there', () => {
    const data = createStandInApp().data;
    const openApp = (use: string, source: Partial<Pipeline['spec']['source']>): string => {
      const secrets = secretStore({ name: 'git', data, use });
      const named = pipeline({ ...source, credentialsRef: TOKEN });
      try {
        return openRepository(named, { secrets, tokens: testHostTokens() }, tempFolder('git')).display;
      } catch (error) {
        return (error as Error).message;
      }
    };
    const repository = 'https://github.com/acme/fleet';
    expect(openApp('git; github.com, api.github.com', { repository })).toBe(repository);
    expect(openApp('git; github.com', { repository })).toContain('git; github.com, api.github.com');
    const enterprise = { repository: SOURCE.repository, gitHost: { type: 'GitHub' } } as const;
    expect(openApp('git; git.example.com', enterprise)).toContain('is not that of a repository');
    expect(openApp('git; git.example.com', { repository: SOURCE.repository })).toContain(
      'path of spec.source.repository',
    );
    expect(openApp('git; git.example.com', { repository: `${SOURCE.repository}/x` })).toContain(
      'the API of git.example.com is not known: set spec.source.gitHost.type',
    );
    expect(openApp('git; git.example.com', { repository: SSH })).toContain('has no key token');
  });
});
