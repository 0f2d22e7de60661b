import { describe, expect, it } from 'vitest';
import {
  checkInOrder,
  checkRequest,
  checksOnInstance,
  judgeRight,
  tryDryRun,
  tryRight,
} from '../../../src/providers/cloud/rights.ts';
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
    ['a missing right of Azure at another resource', error('Auth', 'LinkedAuthorizationFailed'), 'Missing'],
    ['no credentials', error('Auth', 'NoCredentials'), 'Refused'],
    ['credentials that expired', error('Auth', 'ExpiredToken'), 'Refused'],
    ['a wrong key', error('Auth', 'InvalidAccessKeyIdNotFound'), 'Refused'],
    ['an image that does not exist', error('Terminal', 'InvalidAMIIDNotFound'), 'Unknown'],
    ['throttling', error('Retryable', 'RequestLimitExceeded'), 'Unknown'],
    ['a quota', error('Quota', 'VcpuLimitExceeded'), 'Unknown'],
  ])('judges %s', (_, answer, result) => {
    expect(judgeRight('x:Do', answer)).toMatchObject({ right: 'x:Do', result });
  });

  it('repeats no code that the message has', () => {
    const message = 'UnauthorizedOperation: You are not authorized';
    const denied = new ProviderError('Auth', message, { reason: 'UnauthorizedOperation' });
    expect(judgeRight('x:Do', denied).message).toBe(message);
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

describe('tryDryRun', () => {
  it('judges the error of the cloud, and throws any other', async () => {
    const dryRun = tryDryRun('x:Do', () => Promise.reject(error('Terminal', 'DryRunOperation')));
    expect(await dryRun).toMatchObject({ result: 'Allowed' });
    const fault = tryDryRun('x:Do', () => Promise.reject(new TypeError('a fault of the program')));
    await expect(fault).rejects.toThrow('a fault of the program');
  });

  it('stops at a server that carries dry runs out', async () => {
    const sent: string[] = [];
    const checks = ['Describe', 'Delete'].map((call) => {
      return () => tryDryRun(call, async () => void sent.push(call));
    });
    await expect(checkInOrder(checks)).rejects.toThrow(
      'the server carried out the dry run of Describe: use an endpoint that knows dry runs',
    );
    expect(sent).toEqual(['Describe']);
  });
});

async function tryOn(right: string, message: string): Promise<ProviderCheck> {
  return await Promise.resolve({ right, result: 'Allowed', message });
}

async function checkOnInstance(find: () => Promise<string | undefined>): Promise<readonly ProviderCheck[]> {
  return await checkInOrder(checksOnInstance({ prefix: 'x:', calls: ['Stop', 'Start'], find, tryOn }));
}

describe('checksOnInstance', () => {
  it('tries all calls on one instance, which is looked up once', async () => {
    let count = 0;
    const checks = await checkOnInstance(async () => await Promise.resolve(`i-${(count += 1)}`));
    expect(checks).toEqual([
      { right: 'Stop', result: 'Allowed', message: 'i-1' },
      { right: 'Start', result: 'Allowed', message: 'i-1' },
    ]);
  });

  it('tells a cloud without instances from a list that failed', async () => {
    const message = 'not tried: no instance of kubenode exists: check again after the first one is created';
    expect(await checkOnInstance(() => Promise.resolve(undefined))).toEqual([
      { right: 'x:Stop', result: 'Unknown', message },
      { right: 'x:Start', result: 'Unknown', message },
    ]);
    const [failed] = await checkOnInstance(() => Promise.reject(error('Retryable', 'Unreachable')));
    expect(failed).toMatchObject({
      result: 'Unknown',
      message: 'not tried: the instances cannot be listed: text',
    });
  });
});

describe('checkRequest', () => {
  it('has the UIDs of no cluster and no Machine, and no bootstrap token', () => {
    const uid = '00000000-0000-0000-0000-000000000000';
    expect(checkRequest({ config: {}, host: 'systemd', zone: 'z' })).toEqual({
      config: {},
      host: 'systemd',
      zone: 'z',
      machine: 'check',
      tags: { clusterUid: uid, machineUid: uid },
    });
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
