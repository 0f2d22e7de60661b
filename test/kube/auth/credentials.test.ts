import { rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  authorizationHeader,
  createCredentials,
  impersonationHeaders,
} from '../../../src/kube/auth/credentials.ts';
import { fileWith } from '../../support/kube/config-bed.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

describe('createCredentials', () => {
  it('reads a changed token after the check interval, and keeps the TLS object', async () => {
    const clock = virtualClock();
    const tokenFile = fileWith('one\n', 'token');
    const credentials = createCredentials({ tokenFile, servername: 'a' }, { clock, origin: 'a test' });
    const first = await credentials.current();
    expect(first.headers).toEqual({ authorization: 'Bearer one' });
    writeFileSync(tokenFile, 'two-is-longer\n');
    expect(await credentials.current()).toBe(first);
    await clock.advance(10_000);
    const second = await credentials.current();
    expect(second.headers).toEqual({ authorization: 'Bearer two-is-longer' });
    expect(second.tls).toBe(first.tls);
  });

  it('checks at once after forget, and keeps the last identity when a file is missing', async () => {
    const clock = virtualClock();
    const tokenFile = fileWith('one', 'token');
    const credentials = createCredentials({ tokenFile }, { clock, origin: 'a test' });
    const first = await credentials.current();
    rmSync(tokenFile);
    credentials.forget();
    expect(await credentials.current()).toBe(first);
  });

  it('names a missing file and its origin in the error', async () => {
    const sources = { tokenFile: '/nowhere/token' };
    const credentials = createCredentials(sources, { clock: virtualClock(), origin: 'a test' });
    await expect(credentials.current()).rejects.toMatchObject({
      code: 'Credentials',
      message: 'the credential file /nowhere/token does not exist (a test)',
    });
  });
});

describe('authorizationHeader', () => {
  it.each([
    ['prefers a token', ' t \n', { username: 'a', password: 'b' }, 'Bearer t'],
    ['uses a password without a token', ' ', { username: 'a', password: 'b' }, 'Basic YTpi'],
    ['is undefined without both', undefined, undefined, undefined],
  ])('%s', (_, token, basic, expected) => {
    expect(authorizationHeader(token, basic)).toBe(expected);
  });
});

describe('impersonationHeaders', () => {
  it('has user, groups, uid and extra', () => {
    const extra = { 'example.com/team': ['x'] };
    expect(impersonationHeaders({ user: 'jane', groups: ['a', 'b'], uid: '7', extra })).toEqual({
      'impersonate-user': 'jane',
      'impersonate-group': ['a', 'b'],
      'impersonate-uid': '7',
      'impersonate-extra-example.com%2Fteam': ['x'],
    });
    expect(impersonationHeaders({ user: 'jane', groups: [] })).toEqual({ 'impersonate-user': 'jane' });
  });
});
