import { describe, expect, it } from 'vitest';
import { mayAskForToken, parseChallenge } from '../../../src/os/oci/challenge.ts';

const SCOPE = 'repository:a:pull';

describe('parseChallenge', () => {
  it.each<[header: string, challenge: object | undefined]>([
    ['Basic realm="test"', { scheme: 'Basic' }],
    [
      'Bearer realm="https://auth.example.com/token",service="registry",scope="repository:b:pull"',
      {
        scheme: 'Bearer',
        realm: 'https://auth.example.com/token',
        query: 'service=registry&scope=repository%3Ab%3Apull',
      },
    ],
    [
      'bearer realm="https://auth.example.com/token"',
      { scheme: 'Bearer', realm: 'https://auth.example.com/token', query: 'scope=repository%3Aa%3Apull' },
    ],
    [
      'Bearer realm="https://auth.example.com/token",scope="repository:a:read"',
      { scheme: 'Bearer', realm: 'https://auth.example.com/token', query: 'scope=repository%3Aa%3Apull' },
    ],
    [
      'Bearer realm="https://auth.example.com/token",scope="aws"',
      {
        scheme: 'Bearer',
        realm: 'https://auth.example.com/token',
        query: 'scope=aws&scope=repository%3Aa%3Apull',
      },
    ],
    ['Bearer realm="no URL"', undefined],
    ['Bearer service="registry"', undefined],
    ['Negotiate', undefined],
    ['', undefined],
  ])('reads %s', (header, challenge) => {
    expect(parseChallenge(header, SCOPE)).toEqual(challenge);
  });
});

describe('mayAskForToken', () => {
  it.each([
    ['https://registry.example.com', 'https://auth.example.com/token', true],
    ['https://registry.example.com', 'http://auth.example.com/token', false],
    ['http://127.0.0.1:5000', 'http://127.0.0.1:5000/token', true],
    ['http://127.0.0.1:5000', 'http://127.0.0.1:5001/token', true],
    ['http://127.0.0.1:5000', 'http://auth.example.com/token', false],
  ])('of %s by %s: %s', (origin, realm, may) => {
    expect(mayAskForToken(origin, realm)).toBe(may);
  });
});
