import { describe, expect, it } from 'vitest';
import {
  noCredentialsError,
  parseAccessToken,
} from '../../../../src/providers/azure/credentials/access-token.ts';
import { NOW } from '../../../support/builders.ts';

describe('parseAccessToken', () => {
  it.each([
    ['a number, as the token service writes it', 3599],
    ['a text, as the metadata service writes it', '3599'],
  ])('reads the seconds as %s', (_, seconds) => {
    const body = JSON.stringify({ access_token: 'secret-token', expires_in: seconds });
    expect(parseAccessToken(body, 'the service', NOW)).toEqual({
      token: 'secret-token',
      expiresAt: new Date(NOW.getTime() + 3_599_000),
    });
  });

  it.each([
    ['no token', { expires_in: 3599 }],
    ['an empty token', { access_token: '', expires_in: 3599 }],
    ['a number as its token', { access_token: 7, expires_in: 3599 }],
    ['no seconds', { access_token: 'secret-token' }],
    ['no second', { access_token: 'secret-token', expires_in: 0 }],
    ['an end in the past', { access_token: 'secret-token', expires_in: '-5' }],
    ['seconds in words', { access_token: 'secret-token', expires_in: 'soon' }],
  ])('may be repeated after an answer with %s, which is not quoted', (_, answer) => {
    const parse = (): unknown => parseAccessToken(JSON.stringify(answer), 'the service', NOW);
    expect(parse).toThrow(
      expect.objectContaining({
        code: 'Retryable',
        reason: 'BadAnswer',
        message: 'the answer of the service has no token',
      }),
    );
  });
});

describe('noCredentialsError', () => {
  it('names why and what to set', () => {
    expect(noCredentialsError('why')).toMatchObject({
      code: 'Auth',
      message: expect.stringMatching(/^no credentials of Azure: why\. Set AZURE_TENANT_ID, /) as string,
    });
  });
});
