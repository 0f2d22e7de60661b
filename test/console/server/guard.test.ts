import { describe, expect, it } from 'vitest';
import { refuseRequest } from '../../../src/console/server/guard.ts';

describe('refuseRequest', () => {
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
