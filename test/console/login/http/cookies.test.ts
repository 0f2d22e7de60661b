import { describe, expect, it } from 'vitest';
import {
  cookieName,
  formatCookie,
  formatExpiredCookie,
  LOGIN_COOKIE,
  readCookie,
  SESSION_COOKIE,
} from '../../../../src/console/login/http/cookies.ts';

const secure = { origin: 'https://console.example.com', isSecure: true };
const local = { origin: 'http://127.0.0.1:8484', isSecure: false };
const value = 'x'.repeat(43);

describe('the cookie of a session', () => {
  it('CON-24 is for this host only, out of reach of scripts, and sent only by its own pages', () => {
    expect(formatCookie(SESSION_COOKIE, secure, { value })).toBe(
      `__Host-kubenode-session=${value}; Path=/; HttpOnly; SameSite=Strict; Secure`,
    );
    expect(formatCookie(SESSION_COOKIE, local, { value })).toBe(
      `kubenode-session-8484=${value}; Path=/; HttpOnly; SameSite=Strict`,
    );
    expect(formatExpiredCookie(LOGIN_COOKIE, secure)).toMatch(/^__Host-kubenode-login=; .*Max-Age=0$/);
  });

  it('has another name at another port of this machine, where another console may be', () => {
    expect(cookieName(SESSION_COOKIE, { ...local, origin: 'http://localhost:9000' })).toBe(
      'kubenode-session-9000',
    );
    expect(cookieName(SESSION_COOKIE, { ...local, origin: 'http://localhost' })).toBe('kubenode-session-80');
  });

  it('is found among others', () => {
    const header = `a=b; kubenode-session-8484=${value}; c`;
    expect(readCookie(header, SESSION_COOKIE, local)).toBe(value);
  });

  it.each([
    undefined,
    '',
    `kubenode-session-8484=${value}`,
    `kubenode-session=${value}`,
    '__Host-kubenode-session=',
    '__Host-kubenode-session=short',
    `__Host-kubenode-session=${value}"`,
    `__Host-kubenode-session=${'x'.repeat(200)}`,
    `x__Host-kubenode-session=${value}`,
  ])('CON-24 is not read from %s', (header) => {
    expect(readCookie(header, SESSION_COOKIE, secure)).toBeUndefined();
  });
});
