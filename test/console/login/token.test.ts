import { describe, expect, it } from 'vitest';
import { parseToken, tokenEnd } from '../../../src/console/login/token.ts';

const jwt = (claims: unknown): string =>
  `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.signature`;

describe('parseToken', () => {
  it.each(['abc.def', '  abc.def\n', 'Bearer abc.def', 'Authorization: Bearer abc.def\r\n'])(
    'takes the token out of %j',
    (text) => {
      expect(parseToken(text)).toEqual({ token: 'abc.def' });
    },
  );

  it.each([
    ['', /enter a token/],
    ['  \n', /enter a token/],
    ['abc def', /no spaces/],
    ['abc\r\nx-header: 1', /no spaces/],
    ['tökén', /only ASCII/],
    ['abc\u0000', /only ASCII/],
    ['x'.repeat(16 * 1024 + 1), /too long/],
  ])('refuses %j without a question to the API server', (text, because) => {
    expect(parseToken(text)).toEqual({ because: expect.stringMatching(because) as string });
  });
});

describe('tokenEnd', () => {
  it('reads when a JWT ends', () => {
    expect(tokenEnd(jwt({ exp: 1_900_000_000 }))).toEqual(new Date(1_900_000_000_000));
  });

  it.each([
    'opaque',
    'a.b.c',
    jwt({}),
    jwt([]),
    jwt(null),
    jwt({ exp: 'soon' }),
    jwt({ exp: null }),
    jwt({ exp: 1e13 }),
    jwt({ exp: 1e300 }),
    '..',
    '',
  ])('leaves the end of %j to the API server', (token) => {
    expect(tokenEnd(token)).toBeUndefined();
  });
});
