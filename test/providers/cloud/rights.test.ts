import { describe, expect, it } from 'vitest';
import { checkInOrder, judgeRight, tryRight } from '../../../src/providers/cloud/rights.ts';
import {
  type ProviderCheck,
  ProviderError,
  type ProviderErrorCode,
} from '../../../src/providers/contract.ts';

function error(code: ProviderErrorCode, reason: string): ProviderError {
  return new ProviderError(code, 'text', { reason });
}

describe('judgeRight', () => {
  it.each<[string, ProviderError | undefined, ProviderCheck['result']]>([
    ['an answer', undefined, 'Allowed'],
    ['a dry run of EC2', error('Terminal', 'DryRunOperation'), 'Allowed'],
    ['a dry run of ECS', error('Terminal', 'DryRunOperation'), 'Allowed'],
    ['a missing right of EC2', error('Auth', 'UnauthorizedOperation'), 'Missing'],
    ['a missing right of ECS', error('Auth', 'ForbiddenRAM'), 'Missing'],
    ['a missing right of Azure', error('Auth', 'AuthorizationFailed'), 'Missing'],
    ['no credentials', error('Auth', 'NoCredentials'), 'Refused'],
    ['credentials that expired', error('Auth', 'ExpiredToken'), 'Refused'],
    ['a wrong key', error('Auth', 'InvalidAccessKeyIdNotFound'), 'Refused'],
    ['an image that does not exist', error('Terminal', 'InvalidAMIIDNotFound'), 'Unknown'],
    ['throttling', error('Retryable', 'RequestLimitExceeded'), 'Unknown'],
    ['a quota', error('Quota', 'VcpuLimitExceeded'), 'Unknown'],
  ])('judges %s', (_, answer, result) => {
    expect(judgeRight('x:Do', answer)).toMatchObject({ right: 'x:Do', result });
  });
});

describe('tryRight', () => {
  it('judges the error of the cloud, and throws any other', async () => {
    const denied = tryRight('x:Do', () => Promise.reject(error('Auth', 'UnauthorizedOperation')));
    expect(await denied).toMatchObject({ result: 'Missing' });
    expect(await tryRight('x:Do', () => Promise.resolve())).toMatchObject({ result: 'Allowed' });
    const fault = tryRight('x:Do', () => Promise.reject(new TypeError('a fault of the program')));
    await expect(fault).rejects.toThrow('a fault of the program');
  });
});

describe('checkInOrder', () => {
  it('ends at the first check that refuses the credentials', async () => {
    const checks = (['Missing', 'Refused', 'Allowed'] as const).map((result) => {
      return () => Promise.resolve({ right: result, result, message: '' });
    });
    expect((await checkInOrder(checks)).map(({ result }) => result)).toEqual(['Missing', 'Refused']);
  });
});
