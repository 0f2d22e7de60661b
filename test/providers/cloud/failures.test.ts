import { describe, expect, it } from 'vitest';
import { toAnswerError, toNetworkError } from '../../../src/providers/cloud/failures.ts';
import type { ProviderErrorCode } from '../../../src/providers/contract.ts';

const RULES = {
  codes: [
    [/^Throttl/, 'Retryable'],
    [/Capacity/, 'Quota'],
  ] as const,
  lost: 'Ambiguous',
  now: new Date('2026-11-27T04:00:00Z'),
} as const;

describe('toAnswerError', () => {
  it.each<[status: number, code: string, expected: ProviderErrorCode]>([
    [400, 'InsufficientInstanceCapacity', 'Quota'],
    [503, 'Throttling.User', 'Retryable'],
    [401, 'X', 'Auth'],
    [403, 'X', 'Auth'],
    [404, 'X', 'NotFound'],
    [410, 'X', 'NotFound'],
    [409, 'X', 'Retryable'],
    [429, 'X', 'Retryable'],
    [400, 'X', 'Terminal'],
    [422, 'X', 'Terminal'],
    [408, 'X', 'Ambiguous'],
    [500, 'X', 'Ambiguous'],
    [503, 'X', 'Ambiguous'],
    // What is neither a success nor an error: somebody else answered.
    [302, 'X', 'Ambiguous'],
  ])('takes %i %s as %s', (status, code, expected) => {
    expect(toAnswerError({ status, code, message: 'm' }, RULES).code).toBe(expected);
  });

  it('takes a server that failed as retryable where nothing can have been created', () => {
    expect(
      toAnswerError({ status: 500, code: 'X', message: 'm' }, { ...RULES, lost: 'Retryable' }).code,
    ).toBe('Retryable');
  });

  it.each([
    ['7', 7],
    ['Fri, 27 Nov 2026 04:00:30 GMT', 30],
    ['999999999', 86_400],
    ['soon', undefined],
    [undefined, undefined],
  ])('waits as long as Retry-After asks: %s', (retryAfter, expected) => {
    const error = toAnswerError({ status: 429, code: 'X', message: 'm', retryAfter }, RULES);
    expect(error.retryAfterSeconds).toBe(expected);
  });

  it.each([
    ['InvalidAMIID.NotFound', 'InvalidAMIIDNotFound'],
    ['404', 'Terminal'],
    ['', 'Terminal'],
    ['<html>', 'html'],
  ])('has a reason that a condition may have: %j', (code, expected) => {
    expect(toAnswerError({ status: 400, code, message: 'm' }, RULES).reason).toBe(expected);
  });

  it('has a message of one line that fills no condition', () => {
    const { message } = toAnswerError({ status: 400, code: 'X', message: `a\n${'b'.repeat(5000)}` }, RULES);
    expect(message.startsWith('X: a bbb')).toBe(true);
    expect(message.length).toBeLessThan(410);
  });
});

describe('toNetworkError', () => {
  it.each([
    ['ECONNREFUSED', 'Retryable'],
    ['ENOTFOUND', 'Retryable'],
    ['EAI_AGAIN', 'Retryable'],
    ['CERT_HAS_EXPIRED', 'Retryable'],
    ['ECONNRESET', 'Ambiguous'],
    ['EPIPE', 'Ambiguous'],
    ['ETIMEDOUT', 'Ambiguous'],
    ['UND_ERR_BODY_TIMEOUT', 'Ambiguous'],
  ])('takes %s as %s: a request that was never sent did nothing', (code, expected) => {
    const error = Object.assign(new Error('failed'), { code });
    expect(toNetworkError(error, 'Ambiguous')).toMatchObject({ code: expected, reason: 'Unreachable' });
  });

  it('takes an error that it does not know as one after the request was sent', () => {
    expect(toNetworkError(new Error('?'), 'Ambiguous').code).toBe('Ambiguous');
  });
});
