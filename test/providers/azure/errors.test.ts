import { describe, expect, it } from 'vitest';
import { isArmCode, isBusy, toArmError, toCreationError } from '../../../src/providers/azure/errors.ts';
import type { ProviderError, ProviderErrorCode } from '../../../src/providers/contract.ts';

const NOW = new Date('2030-01-01T00:00:00Z');

function errorOf(
  status: number,
  code: string,
  message = 'text',
  lost: 'Ambiguous' | 'Retryable' = 'Ambiguous',
): ProviderError {
  return toArmError({ status, code, message }, { lost, now: NOW });
}

describe('toArmError', () => {
  it.each<[status: number, code: string, means: ProviderErrorCode]>([
    [404, 'ResourceNotFound', 'NotFound'],
    [404, 'ResourceGroupNotFound', 'Terminal'],
    [404, 'SubscriptionNotFound', 'Auth'],
    [404, 'ImageNotFound', 'Terminal'],
    [404, 'InvalidResourceType', 'Terminal'],
    [404, 'Status404', 'Retryable'],
    [409, 'SkuNotAvailable', 'Quota'],
    [409, 'AllocationFailed', 'Quota'],
    [409, 'ZonalAllocationFailed', 'Quota'],
    [409, 'OverconstrainedAllocationRequest', 'Quota'],
    [409, 'OverconstrainedZonalAllocationRequest', 'Quota'],
    [409, 'QuotaExceeded', 'Quota'],
    [409, 'DeploymentQuotaExceeded', 'Quota'],
    [400, 'SubnetIsFull', 'Quota'],
    [400, 'PublicIPCountLimitExceeded', 'Quota'],
    [401, 'InvalidAuthenticationToken', 'Auth'],
    [401, 'InvalidAuthenticationTokenTenant', 'Auth'],
    [401, 'ExpiredAuthenticationToken', 'Auth'],
    [401, 'AnythingElse', 'Auth'],
    [403, 'AuthorizationFailed', 'Auth'],
    [403, 'LinkedAuthorizationFailed', 'Auth'],
    [403, 'RequestDisallowedByPolicy', 'Terminal'],
    [409, 'ReadOnlyDisabledSubscription', 'Auth'],
    [409, 'ScopeLocked', 'Terminal'],
    [409, 'MissingSubscriptionRegistration', 'Terminal'],
    [409, 'OperationNotAllowed', 'Retryable'],
    [409, 'Conflict', 'Retryable'],
    [409, 'ConflictingConcurrentWriteNotAllowed', 'Retryable'],
    [400, 'NicReservedForAnotherVm', 'Retryable'],
    [409, 'PropertyChangeNotAllowed', 'Terminal'],
    [400, 'InvalidParameter', 'Terminal'],
    [429, 'OperationNotAllowed', 'Retryable'],
    [429, 'TooManyRequests', 'Retryable'],
    [500, 'InternalServerError', 'Ambiguous'],
    [503, 'ServerTimeout', 'Retryable'],
    [502, 'Status502', 'Ambiguous'],
    [408, 'Status408', 'Ambiguous'],
  ])('takes %i %s for %s', (status, code, means) => {
    expect(errorOf(status, code).code).toBe(means);
  });

  it('says what a server that failed means for a request that may be repeated', () => {
    expect(errorOf(500, 'InternalServerError', 'text', 'Retryable').code).toBe('Retryable');
  });

  it('waits as long as Azure asks', () => {
    const answer = { status: 429, code: 'TooManyRequests', message: '', retryAfter: '17' };
    expect(toArmError(answer, { lost: 'Retryable', now: NOW }).retryAfterSeconds).toBe(17);
  });

  it('leaves encoded texts out of the message', () => {
    expect(errorOf(400, 'InvalidParameter', `bad ${'A'.repeat(300)}`).message).toBe(
      'InvalidParameter: bad …',
    );
  });
});

describe('toCreationError', () => {
  it.each<[status: number, code: string, means: ProviderErrorCode]>([
    [404, 'ResourceNotFound', 'Terminal'],
    [409, 'OperationNotAllowed', 'Quota'],
    [409, 'SkuNotAvailable', 'Quota'],
    [403, 'AuthorizationFailed', 'Auth'],
  ])('takes %i %s for %s', (status, code, means) => {
    expect(toCreationError(errorOf(status, code))).toMatchObject({ code: means, reason: code });
  });
});

describe('isBusy', () => {
  it.each([
    [409, 'OperationNotAllowed', true],
    [409, 'Conflict', true],
    [429, 'TooManyRequests', false],
    [409, 'ScopeLocked', false],
  ])('is for %i %s: %s', (status, code, expected) => {
    expect(isBusy(errorOf(status, code))).toBe(expected);
    expect(isArmCode(errorOf(status, code), code)).toBe(true);
  });

  it('is false for other errors', () => {
    expect([isBusy(new Error('Conflict')), isArmCode(undefined, 'Conflict')]).toEqual([false, false]);
  });
});
