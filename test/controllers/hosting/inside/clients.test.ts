import { describe, expect, it } from 'vitest';
import { keyIdOf } from '../../../../src/controllers/hosting/inside/clients.ts';

function tokenOf(header: object): string {
  return `${Buffer.from(JSON.stringify(header)).toString('base64url')}.e30.signature`;
}

describe('the clients of a hosted cluster', () => {
  it.each<[token: string, keyId: string | undefined]>([
    [tokenOf({ alg: 'ES256', kid: 'abc' }), 'abc'],
    [tokenOf({ alg: 'ES256' }), undefined],
    ['', undefined],
    ['no token', undefined],
  ])('HOS-22 finds by its header which key signed a token: %j', (token, keyId) => {
    expect(keyIdOf(token)).toBe(keyId);
  });
});
