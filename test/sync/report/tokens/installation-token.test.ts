import { describe, expect, it } from 'vitest';
import type { AppCredential } from '../../../../src/sync/report/tokens/credential.ts';
import {
  appJwt,
  installationTokenRequest,
  readInstallationToken,
} from '../../../../src/sync/report/tokens/installation-token.ts';
import { createStandInApp, type StandInApp } from '../../../support/git-host/github-app.ts';
import { NOW } from '../../../support/virtual-clock.ts';

const PROJECT = {
  type: 'GitHub',
  base: 'https://ghe.example.com',
  path: 'acme/fleet',
  context: 'c',
} as const;

const credentialOf = ({ data }: StandInApp): AppCredential =>
  ({ type: 'App', ...data }) as unknown as AppCredential;

const decode = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());
const later = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1000);

/** Returns what the host answers when our clock is ahead by so many seconds. */
function exchange(app: StandInApp, aheadSeconds: number) {
  const now = later(aheadSeconds);
  const credential = credentialOf(app);
  const { method, url, headers } = installationTokenRequest(PROJECT, credential, now);
  const { authorization } = headers;
  const answer = app.answer({ method, url: new URL(url).pathname, authorization });
  const { status = 0, json, headers: answered = {} } = answer ?? {};
  return readInstallationToken(
    { status, headers: answered, body: JSON.stringify(json) },
    { project: PROJECT, app: credential, now },
  );
}

describe('appJwt', () => {
  it('S26 names the App, begins a minute before and ends five minutes after', () => {
    const [head = '', claims = ''] = appJwt(credentialOf(createStandInApp()), NOW).split('.');
    const seconds = NOW.getTime() / 1000;
    expect(decode(head)).toEqual({ alg: 'RS256', typ: 'JWT' });
    expect(decode(claims)).toEqual({ iat: seconds - 60, exp: seconds + 300, iss: '1234' });
  });
});

describe('installationTokenRequest', () => {
  it.each([
    ['https://github.com', 'https://api.github.com/app/installations/4711/access_tokens'],
    ['https://ghe.example.com', 'https://ghe.example.com/api/v3/app/installations/4711/access_tokens'],
  ])('S26 asks the API of %s for a token', (base, url) => {
    const request = installationTokenRequest({ base }, credentialOf(createStandInApp()), NOW);
    expect(request).toMatchObject({ method: 'POST', url });
    expect(request).not.toHaveProperty('body');
  });
});

describe('S26 the token of a GitHub App', () => {
  it.each([0, 59, -299])('is issued when our clock is ahead by %d s, for its whole time', (ahead) => {
    const app = createStandInApp(() => NOW);
    expect(exchange(app, ahead)).toEqual({ token: 'ghs_1234_1', lifetimeMs: 3_600_000 });
  });

  it.each([
    [61, 'The clock of sync is 61 s ahead of that of the host: correct it.'],
    [-301, 'The clock of sync is 301 s behind that of the host: correct it.'],
  ])('is not issued when our clock is ahead by %d s, which the message tells', (ahead, hint) => {
    expect(
      exchange(
        createStandInApp(() => NOW),
        ahead,
      ),
    ).toEqual({
      reason: 'TokenRefused',
      message: expect.stringContaining(hint) as unknown,
      isTemporary: false,
    });
  });

  it.each<[what: string, change: (app: StandInApp) => void, reason: string, hint: string]>([
    [
      'whose key was revoked',
      (app) => Object.assign(app.data, { privateKey: createStandInApp().privateKey }),
      'TokenRefused',
      'Generate a private key for it, and put it into the key privateKey of its Secret',
    ],
    [
      'whose installation was removed',
      (app) => (app.installationID = undefined),
      'NotFound',
      'has no installation 4711 of GitHub App 1234 (HTTP 404, "Not Found"). If it was removed, install the App again',
    ],
    ['that was suspended', (app) => (app.isSuspended = true), 'Forbidden', 'ask its owner to unsuspend it'],
    [
      'whose token has ended already',
      (app) => (app.lifetimeMs = -1000),
      'Refused',
      'a token that cannot be used, or has ended already',
    ],
  ])('is not issued for an App %s', (_, change, reason, hint) => {
    const app = createStandInApp(() => NOW);
    change(app);
    const found = exchange(app, 0);
    expect(found).toMatchObject({
      reason,
      isTemporary: false,
      message: expect.stringContaining(hint) as unknown,
    });
    expect(JSON.stringify(found)).not.toMatch(/ghs_|BEGIN|eyJ/);
    expect(found).not.toMatchObject({ message: expect.stringContaining('The clock') as unknown });
  });

  const question = { project: PROJECT, app: credentialOf(createStandInApp()), now: NOW };
  it.each([
    [429, { 'retry-after': '120' }, { reason: 'RateLimited', isTemporary: true, retryAfterSeconds: 120 }],
    [403, { 'x-ratelimit-remaining': '0' }, { reason: 'RateLimited', isTemporary: true }],
    [503, {}, { reason: 'Unreachable', isTemporary: true }],
    [307, { location: 'https://evil.example.com/' }, { reason: 'Moved', isTemporary: false }],
    [200, {}, { reason: 'Refused', isTemporary: false }],
  ])('is not issued with the answer %d', (status, headers, expected) => {
    const answer = { status, headers, body: '{"message":"no"}' };
    expect(readInstallationToken(answer, question)).toMatchObject(expected);
  });

  it.each([
    ['has no end', { token: 'ghs_1234' }],
    ['is not one line', { token: 'ghs_1234\r\nx: y', expires_at: '2030-01-01T13:00:00Z' }],
    ['has an end that is not a time', { token: 'ghs_1234', expires_at: 'soon' }],
  ])('is not used when it %s', (_, body) => {
    const answer = { status: 201, headers: {}, body: JSON.stringify(body) };
    expect(readInstallationToken(answer, question)).toMatchObject({ reason: 'Refused' });
  });

  it('is used for an hour at most, whatever the host promises', () => {
    const body = JSON.stringify({ token: 'ghs_1234', expires_at: '2040-01-01T00:00:00Z' });
    const answer = { status: 201, headers: {}, body };
    expect(readInstallationToken(answer, question)).toEqual({ token: 'ghs_1234', lifetimeMs: 3_600_000 });
  });
});
