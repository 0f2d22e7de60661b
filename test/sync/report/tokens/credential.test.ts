import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { SecretReference } from '../../../../src/api/secrets/references.ts';
import {
  credentialKey,
  isAppSecret,
  readHostCredential,
} from '../../../../src/sync/report/tokens/credential.ts';
import { createStandInApp } from '../../../support/git-host/github-app.ts';
import { secretStore } from '../../../support/secret-store.ts';

const REFERENCE: SecretReference = { name: 'app', key: 'token', use: 'git-status', user: 'Pipeline fleet' };
const GITHUB = { type: 'GitHub', base: 'https://github.com' } as const;
const APP = createStandInApp();

function read(
  data: Readonly<Record<string, string>>,
  { use = 'git-status; api.github.com', ...more }: { use?: string; hosts?: readonly string[] } = {},
  project: Parameters<typeof readHostCredential>[2]['project'] = GITHUB,
) {
  return readHostCredential(secretStore({ name: 'app', use, data }), REFERENCE, { project, ...more });
}

const pem = (key: { export(options: { type: 'pkcs8'; format: 'pem' }): string | Buffer }): string =>
  key.export({ type: 'pkcs8', format: 'pem' }).toString();

describe('S26 the credential for a git host', () => {
  it('is a token, or a GitHub App with its key', () => {
    expect(read({ token: 'ghp_1234\n' })).toEqual({ type: 'Token', token: 'ghp_1234' });
    const { appID, installationID, privateKey } = APP.data;
    expect(read({ ...APP.data, appID: `${appID}\n` })).toEqual({
      type: 'App',
      appID,
      installationID,
      privateKey: privateKey?.trim(),
    });
  });

  it('may be the key of an App as PKCS #8, and its client ID', () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const data = { ...APP.data, appID: 'Iv23liABCdef', privateKey: pem(privateKey) };
    expect(read(data)).toMatchObject({ type: 'App', appID: 'Iv23liABCdef' });
  });

  it.each([
    [
      'a token and an App',
      { ...APP.data, token: 'ghp_1234' },
      'contains a token, key token, and a GitHub App',
    ],
    ['an App without its key', { appID: '1', installationID: '2' }, 'has no key privateKey: add it'],
    ['an App without installation', { appID: '1', privateKey: APP.privateKey }, 'has no key installationID'],
    ['a key without App', { privateKey: APP.privateKey }, 'has no key appID'],
    ['an App with an odd name', { ...APP.data, appID: '1/../2' }, 'key appID of Secret app'],
    [
      'an installation that leaves the URL',
      { ...APP.data, installationID: '1/../../user' },
      'installationID',
    ],
    ['a password as key', { ...APP.data, privateKey: 's3cret-p4ssword' }, 'expected the private key'],
    [
      'a key of another kind',
      { ...APP.data, privateKey: pem(generateKeyPairSync('ed25519').privateKey) },
      'which is an RSA key',
    ],
    [
      'a weak key',
      { ...APP.data, privateKey: pem(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey) },
      'expected an RSA key of 2048 bits, got 1024',
    ],
    ['nothing', {}, 'has no key token: add it'],
  ])('is refused with %s, without its values', (_, data, message) => {
    expect(() => read(data)).toThrow(message);
    expect(() => read(data)).not.toThrow(/s3cret|ghp_|BEGIN/);
  });

  it('is refused as an App for a host that is not GitHub', () => {
    const gitea = { type: 'Gitea', base: 'https://git.example.com' } as const;
    expect(() => read(APP.data, { use: 'git-status; git.example.com' }, gitea)).toThrow(
      'contains a GitHub App, and https://git.example.com is Gitea: put a token into the key token',
    );
  });

  it('SAF-8 is sent to hosts that the Secret permits, and names all that are missing', () => {
    expect(() => read(APP.data, { use: 'git; api.github.com' })).toThrow('uses it as git-status');
    const hosts = ['github.com'];
    expect(() => read(APP.data, { use: 'git-status', hosts })).toThrow(
      "for github.com and api.github.com. To permit it: kubectl -n kubenode-system annotate --overwrite secret app 'kubenode.dev/secret-use=git-status; github.com, api.github.com'",
    );
    expect(() => read(APP.data, { use: 'git-status; github.com', hosts })).toThrow(
      'as a credential for commit statuses for api.github.com. To permit it',
    );
    expect(read(APP.data, { use: 'git-status; github.com, api.github.com', hosts }).type).toBe('App');
  });

  it('SAF-8 sends the JWT of an App of GitHub Enterprise to that host', () => {
    const project = { type: 'GitHub', base: 'https://ghe.example.com:8443' } as const;
    expect(() => read(APP.data, {}, project)).toThrow('for ghe.example.com:8443. To permit it');
  });
});

describe('isAppSecret', () => {
  it('knows an App by any of its keys, and takes a missing Secret for none', () => {
    const has = (data: Readonly<Record<string, string>>): boolean =>
      isAppSecret(secretStore({ name: 'app', data }), REFERENCE);
    expect([{}, { token: 'x' }, { appID: '1' }, { privateKey: 'x' }].map(has)).toEqual([
      false,
      false,
      true,
      true,
    ]);
    expect(isAppSecret(secretStore(), REFERENCE)).toBe(false);
  });
});

describe('credentialKey', () => {
  it('differs for another token, App, installation and key', () => {
    const { appID, installationID, privateKey } = createStandInApp().data;
    const all = [
      read({ token: 'ghp_1234' }),
      read({ token: 'ghp_5678' }),
      read(APP.data),
      read({ ...APP.data, installationID: '4712' }),
      read({ ...APP.data, appID: '99' }),
      read({ ...APP.data, privateKey: privateKey ?? '' }),
    ];
    expect([appID, installationID]).toEqual([APP.data['appID'], APP.data['installationID']]);
    expect(new Set(all.map(credentialKey)).size).toBe(all.length);
  });
});
