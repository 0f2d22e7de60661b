import { describe, expect, it } from 'vitest';
import { refuseRequest } from '../../../src/console/server/guard.ts';
import { isDataPath } from '../../../src/console/server/paths.ts';

describe('refuseRequest', () => {
  it.each(['/events', '/events?x', '/why/a/m-1', '/events-of/a/m-1', '/machines/a/m-1', '/history/24h'])(
    'sends no data of %s to a page of another site, which would take turns from people',
    (url) => {
      const head = { method: 'GET', host: 'localhost', isForData: isDataPath(url) };
      expect(refuseRequest({ ...head, fetchSite: 'cross-site' }, 'localhost')?.status).toBe(403);
      for (const fetchSite of ['same-origin', 'none', undefined]) {
        expect(refuseRequest({ ...head, fetchSite }, 'localhost')).toBeUndefined();
      }
    },
  );

  it.each(['/', '/console.js', '/whynot'])('answers a link of another site to %s', (url) => {
    const head = { method: 'GET', host: 'localhost', isForData: isDataPath(url) };
    expect(refuseRequest({ ...head, fetchSite: 'cross-site' }, 'localhost')).toBeUndefined();
  });

  it.each([
    '127.0.0.1:8484',
    'localhost:8484',
    'LOCALHOST:1',
    '[::1]:8484',
    '10.1.2.3',
    'console.example:443',
    'console.example',
  ])('answers Host %s, which no other site can choose', (host) => {
    expect(refuseRequest({ method: 'GET', host }, 'Console.Example')).toBeUndefined();
    expect(refuseRequest({ method: 'HEAD', host }, 'console.example')).toBeUndefined();
  });

  it.each([
    ['GET', 'evil.example:8484', 421],
    ['GET', 'localhost.evil.example', 421],
    ['GET', '127.0.0.1.evil.example:8484', 421],
    ['GET', '', 400],
    ['GET', undefined, 400],
    ['GET', 'user@localhost', 400],
    ['GET', 'localhost:8484/x', 400],
    ['POST', '127.0.0.1:8484', 405],
    ['DELETE', 'evil.example', 405],
    ['OPTIONS', '127.0.0.1:8484', 405],
    [undefined, '127.0.0.1:8484', 405],
  ])('refuses %s with Host %s by %i', (method, host, status) => {
    expect(refuseRequest({ method, host }, '127.0.0.1')).toMatchObject({ status });
  });
});
