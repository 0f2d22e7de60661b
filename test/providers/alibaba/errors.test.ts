import { describe, expect, it } from 'vitest';
import { isApiCode, toApiError } from '../../../src/providers/alibaba/errors.ts';
import type { ProviderErrorCode } from '../../../src/providers/contract.ts';

const NOW = new Date('2030-01-01T00:00:00Z');
const RULES = { lost: 'Ambiguous', now: NOW } as const;

describe('toApiError', () => {
  // Status and code as the pages of RunInstances, DeleteInstance, StopInstance and the common errors document them.
  it.each<[code: string, status: number, want: ProviderErrorCode]>([
    ['Throttling', 400, 'Retryable'],
    ['Throttling.User', 400, 'Retryable'],
    ['Throttling.Api', 429, 'Retryable'],
    ['OperationDenied.NoStock', 403, 'Quota'],
    ['Zone.NotOnSale', 403, 'Quota'],
    ['ResourceNotAvailable', 400, 'Quota'],
    ['QuotaExceed.AfterpayInstance', 400, 'Quota'],
    ['QuotaExceeded.PrivateIpAddress', 400, 'Quota'],
    ['SecurityGroupInstanceLimitExceed', 403, 'Quota'],
    ['InvalidAccountStatus.NotEnoughBalance', 403, 'Quota'],
    ['InsufficientBalance', 403, 'Quota'],
    ['InvalidAccessKeyId.NotFound', 404, 'Auth'],
    ['InvalidAccessKeyId.Inactive', 400, 'Auth'],
    ['InvalidSecurityToken.Expired', 400, 'Auth'],
    ['SignatureDoesNotMatch', 400, 'Auth'],
    ['InvalidTimeStamp.Expired', 400, 'Auth'],
    ['Forbidden.RAM', 403, 'Auth'],
    ['Forbbiden', 403, 'Auth'],
    ['InvalidRamRole.NotEcsRole', 401, 'Auth'],
    ['InvalidInstanceId.NotFound', 404, 'NotFound'],
    ['InvalidVSwitchId.NotFound', 404, 'Terminal'],
    ['InvalidImageId.NotFound', 404, 'Terminal'],
    ['CategoryNotSupported', 403, 'Terminal'],
    ['InvalidOperation.DeletionProtection', 403, 'Terminal'],
    ['MissingParameter', 400, 'Terminal'],
    ['IncorrectInstanceStatus', 403, 'Retryable'],
    ['IncorrectInstanceStatus.Initializing', 403, 'Retryable'],
    ['IdempotentProcessing', 403, 'Ambiguous'],
    ['InternalError', 500, 'Ambiguous'],
    ['ServiceUnavailable', 503, 'Ambiguous'],
    ['Status502', 502, 'Ambiguous'],
    ['Status429', 429, 'Retryable'],
    ['Status401', 401, 'Auth'],
    ['ForbiddenFruit', 403, 'Terminal'],
  ])('converts %s with status %i to %s', (code, status, want) => {
    expect(toApiError({ status, code, message: 'm' }, RULES).code).toBe(want);
  });

  it('calls a failure of the server no more than retryable where nothing can be created', () => {
    const answer = { status: 500, code: 'InternalError', message: 'm' };
    expect(toApiError(answer, { ...RULES, lost: 'Retryable' }).code).toBe('Retryable');
  });

  it('has the code of the API as a reason that a condition accepts', () => {
    const { reason, message } = toApiError(
      { status: 403, code: 'OperationDenied.NoStock', message: 'sold out' },
      RULES,
    );
    expect([reason, message]).toEqual(['OperationDeniedNoStock', 'OperationDenied.NoStock: sold out']);
  });

  it('keeps the user data out of its message, which the API quotes for a wrong signature', () => {
    const quoted = `server string to sign is: UserData=${'QUJD'.repeat(20)}`;
    const signature = toApiError({ status: 400, code: 'SignatureDoesNotMatch', message: quoted }, RULES);
    const other = toApiError({ status: 400, code: 'InvalidUserData', message: quoted }, RULES);
    expect([signature.message, other.message].join(' ')).not.toContain('QUJD');
    expect(signature.message).toContain('Check the credentials of kubenode controllers');
  });
});

describe('isApiCode', () => {
  it('knows a code again, and takes no other error for it', () => {
    const error = toApiError({ status: 400, code: 'DryRunOperation', message: 'm' }, RULES);
    expect([
      isApiCode(error, 'DryRunOperation'),
      isApiCode(error, 'Other'),
      isApiCode(new Error('x'), 'x'),
    ]).toEqual([true, false, false]);
  });
});
