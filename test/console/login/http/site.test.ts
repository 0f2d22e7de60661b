import { describe, expect, it } from 'vitest';
import { crossSiteReason, findRequestSite, isLoopbackHost } from '../../../../src/console/login/http/site.ts';

const publicUrl = new URL('https://console.example.com');
const secure = { origin: 'https://console.example.com', isSecure: true };

describe('findRequestSite', () => {
  it.each(['console.example.com', 'Console.Example.COM', 'console.example.com:443'])(
    'CON-24 knows the public address by Host %s',
    (host) => {
      expect(findRequestSite(host, publicUrl)).toEqual(secure);
    },
  );

  it.each(['localhost:8484', '127.0.0.1:8484', '127.9.9.9', '[::1]:8484'])(
    'answers a browser on the same machine, by Host %s without TLS',
    (host) => {
      expect(findRequestSite(host, publicUrl)).toEqual({ origin: `http://${host}`, isSecure: false });
      expect(findRequestSite(host, undefined)).toEqual({ origin: `http://${host}`, isSecure: false });
    },
  );

  it.each([
    undefined,
    '',
    'evil.example',
    '10.0.0.1:8484',
    'console.example.com:8443',
    'console.example.com.evil.example',
    'evil.example/console.example.com',
    'user@console.example.com',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '[::2]:8484',
    '0.0.0.0',
  ])('CON-24 has no address for Host %s', (host) => {
    expect(findRequestSite(host, publicUrl)).toBeUndefined();
    expect(findRequestSite(host, undefined)).toBeUndefined();
  });

  it('keeps another port of the public address, as browsers send it', () => {
    const site = findRequestSite('console.example.com:8443', new URL('https://console.example.com:8443'));
    expect(site).toEqual({ origin: 'https://console.example.com:8443', isSecure: true });
  });
});

describe('isLoopbackHost', () => {
  it('knows names and addresses of this machine only', () => {
    expect(['localhost', '127.0.0.1', '[::1]'].every(isLoopbackHost)).toBe(true);
    expect(['::1x', '10.0.0.1', 'localhost.example', 'localhost:8:9'].some(isLoopbackHost)).toBe(false);
  });
});

describe('crossSiteReason', () => {
  it.each([[{ origin: secure.origin }], [{ origin: secure.origin, 'sec-fetch-site': 'same-origin' }]])(
    'accepts %j, which only its own pages send',
    (headers) => {
      expect(crossSiteReason(headers, secure)).toBeUndefined();
    },
  );

  it.each([
    [{}, /expected the header Origin/],
    [{ origin: 'null' }, /another site/],
    [{ origin: 'http://console.example.com' }, /another site/],
    [{ origin: 'https://console.example.com:444' }, /another site/],
    [{ origin: 'https://evil.example' }, /another site/],
    [{ origin: secure.origin, 'sec-fetch-site': 'same-site' }, /another site/],
    [{ origin: secure.origin, 'sec-fetch-site': 'cross-site' }, /another site/],
  ])('CON-24 refuses %j, which pages of other sites can cause', (headers, because) => {
    expect(crossSiteReason(headers, secure)).toMatch(because);
  });
});
