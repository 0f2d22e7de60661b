import { expect, it } from 'vitest';
import { statusTarget } from '../../../src/sync/report/target.ts';
import { secretStore } from '../../support/secret-store.ts';
import { reportingPipeline } from './builders.ts';

const secretWith = (token: string, use = 'git-status; api.github.com') =>
  secretStore({ name: 'status', use, data: { token } });

it('S26 reads the token for the API that it is sent to', () => {
  expect(statusTarget(reportingPipeline(), secretWith('ghp_1234\n'))).toMatchObject({
    credential: { type: 'Token', token: 'ghp_1234' },
    address: 'https://github.com/acme/fleet kubenode/fleet',
    project: { type: 'GitHub', path: 'acme/fleet' },
  });
});

it('S26 has another address for another repository and another name of the status', () => {
  const all = [{}, { repository: 'https://github.com/acme/other' }, { gitHost: { context: 'hub-eu' } }].map(
    addressOf,
  );
  expect(new Set(all).size).toBe(3);
});

it('S26 needs no token for a Pipeline that reports nothing', () => {
  const { statusCredentialsRef: _, ...source } = reportingPipeline().spec.source;
  const pipeline = { ...reportingPipeline(), spec: { ...reportingPipeline().spec, source } };
  expect(statusTarget(pipeline, secretStore())).toBeUndefined();
});

it.each([
  ['a Secret that is missing', secretStore(), 'does not exist: create it'],
  ['a Secret for git', secretWith('ghp_1234', 'git; api.github.com'), 'uses it as git-status'],
  [
    'a Secret for another host',
    secretWith('ghp_1234', 'git-status; git.example.com'),
    'for api.github.com. To permit it: kubectl',
  ],
  ['an empty token', secretWith('  \n'), 'is not a token'],
  ['a private key', secretWith('-----BEGIN KEY-----\nabc'), 'is not a token'],
  ['a token with a line break', secretWith('abcd\r\nx-evil: 1'), 'is not a token'],
])('S26 refuses to report with %s', (_, secrets, message) => {
  expect(() => statusTarget(reportingPipeline(), secrets)).toThrow(message);
});

it('S26 reads the certificate authorities of the repository', () => {
  const secrets = secretStore(
    { name: 'status', use: 'git-status; api.github.com', data: { token: 'ghp_1234' } },
    { name: 'ca', use: 'git-ca', data: { 'ca.crt': 'PEM' } },
  );
  expect(statusTarget(reportingPipeline({ caRef: { name: 'ca', key: 'ca.crt' } }), secrets)?.ca).toBe('PEM');
});

function addressOf(source: object): string | undefined {
  return statusTarget(reportingPipeline(source), secretWith('ghp_1234'))?.address;
}
