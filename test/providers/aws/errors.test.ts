import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { toAwsError } from '../../../src/providers/aws/errors.ts';
import { ProviderError, type ProviderErrorCode } from '../../../src/providers/contract.ts';

const NOW = new Date('2026-11-27T04:00:00Z');

/** As the SDK throws the answer of EC2. */
function refusal(name: string, httpStatusCode = 400, headers: Readonly<Record<string, string>> = {}): Error {
  return Object.assign(new Error('message'), {
    name,
    $metadata: { httpStatusCode },
    $response: { headers, body: 'UserData=c2VjcmV0' },
  });
}

describe('toAwsError', () => {
  it.each<[name: string, status: number, expected: ProviderErrorCode]>([
    ['InsufficientInstanceCapacity', 500, 'Quota'],
    ['InsufficientFreeAddressesInSubnet', 400, 'Quota'],
    ['InsufficientHostCapacity', 400, 'Quota'],
    ['VcpuLimitExceeded', 400, 'Quota'],
    ['InstanceLimitExceeded', 400, 'Quota'],
    ['MaxSpotInstanceCountExceeded', 400, 'Quota'],
    ['SpotMaxPriceTooLow', 400, 'Quota'],
    ['VolumeLimitExceeded', 400, 'Quota'],
    ['RequestLimitExceeded', 503, 'Retryable'],
    ['BandwidthLimitExceeded', 503, 'Retryable'],
    ['Throttling', 400, 'Retryable'],
    ['ThrottlingException', 400, 'Retryable'],
    ['EC2ThrottledException', 400, 'Retryable'],
    ['IncorrectInstanceState', 400, 'Retryable'],
    ['InvalidPaginationToken', 400, 'Retryable'],
    ['UnauthorizedOperation', 403, 'Auth'],
    ['AuthFailure', 401, 'Auth'],
    ['ExpiredToken', 400, 'Auth'],
    ['ExpiredTokenException', 400, 'Auth'],
    ['RequestExpired', 400, 'Auth'],
    ['InvalidClientTokenId', 403, 'Auth'],
    ['SignatureDoesNotMatch', 403, 'Auth'],
    ['OptInRequired', 401, 'Auth'],
    ['InvalidInstanceID.NotFound', 400, 'NotFound'],
    ['InvalidAMIID.NotFound', 400, 'Terminal'],
    ['InvalidSubnetID.NotFound', 400, 'Terminal'],
    ['InvalidParameterValue', 400, 'Terminal'],
    ['OperationNotPermitted', 400, 'Terminal'],
    ['UnsupportedOperation', 400, 'Terminal'],
    ['IdempotentParameterMismatch', 400, 'Ambiguous'],
    ['InternalError', 500, 'Ambiguous'],
    ['ServiceUnavailable', 503, 'Ambiguous'],
  ])('takes %s with %i as %s', (name, status, expected) => {
    expect(toAwsError(refusal(name, status), 'Ambiguous', NOW).code).toBe(expected);
  });

  it('takes a server that failed as retryable where nothing can have been created', () => {
    expect(toAwsError(refusal('InternalError', 500), 'Retryable', NOW).code).toBe('Retryable');
  });

  it.each(['CredentialsProviderError', 'TokenProviderError'])(
    'takes %s, before anything is sent, as Auth',
    (name) => {
      const error = Object.assign(new Error('Could not load credentials from any providers'), { name });
      expect(toAwsError(error, 'Ambiguous', NOW)).toMatchObject({
        code: 'Auth',
        reason: 'NoCredentials',
        message: 'no credentials: Could not load credentials from any providers',
      });
    },
  );

  it('waits as long as the answer asks', () => {
    const error = toAwsError(refusal('RequestLimitExceeded', 503, { 'retry-after': '11' }), 'Retryable', NOW);
    expect(error.retryAfterSeconds).toBe(11);
  });

  it('has the code of AWS as a reason that a condition may have', () => {
    expect(toAwsError(refusal('InvalidAMIID.NotFound'), 'Retryable', NOW)).toMatchObject({
      reason: 'InvalidAMIIDNotFound',
      message: 'InvalidAMIID.NotFound: message',
    });
  });

  it('does not know whether an answer that cannot be read was a success', () => {
    expect(toAwsError(refusal('SyntaxError', 200), 'Ambiguous', NOW).code).toBe('Ambiguous');
    expect(toAwsError('thrown', 'Ambiguous', NOW).code).toBe('Ambiguous');
  });

  it.each([
    ['ECONNREFUSED', 'Retryable'],
    ['ECONNRESET', 'Ambiguous'],
  ])('takes %s as %s', (code, expected) => {
    expect(toAwsError(Object.assign(new Error('x'), { code }), 'Ambiguous', NOW).code).toBe(expected);
  });

  it('MAC-12 contains nothing of the request, which has the user data', () => {
    expect(
      inspect(toAwsError(refusal('InvalidParameterValue'), 'Ambiguous', NOW), { depth: 9 }),
    ).not.toContain('c2VjcmV0');
  });

  it('leaves an error of the provider as it is', () => {
    const error = new ProviderError('Quota', 'full');
    expect(toAwsError(error, 'Ambiguous', NOW)).toBe(error);
  });
});
