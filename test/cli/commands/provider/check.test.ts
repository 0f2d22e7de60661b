import { describe, expect, it, onTestFinished } from 'vitest';
import { checksExitCode, createProviderCheckCommand } from '../../../../src/cli/commands/provider/check.ts';
import { exitCodeOf } from '../../../../src/cli/exit.ts';
import type { ProviderCheck } from '../../../../src/providers/contract.ts';
import { type EcsServer, startEcsServer } from '../../../providers/alibaba/server/server.ts';
import { type TestIo, testIo } from '../../../support/test-io.ts';

const ENV = {
  ALIBABA_CLOUD_REGION_ID: 'cn-hangzhou',
  ALIBABA_CLOUD_ACCESS_KEY_ID: 'LTAI5test',
  ALIBABA_CLOUD_ACCESS_KEY_SECRET: 'test-secret',
};

async function startCloud(): Promise<EcsServer> {
  const server = await startEcsServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

async function check(env: object, ...args: readonly string[]): Promise<TestIo> {
  const io = testIo({ env: { ...ENV, ...env } });
  await createProviderCheckCommand(io)
    .exitOverride()
    .parseAsync(['alibaba', ...args], { from: 'user' });
  return io;
}

describe('kubenode provider check', () => {
  it('lists each right, and exits with 1 while some were not tried', async () => {
    const { url } = await startCloud();
    const io = await check({ ALIBABA_CLOUD_ECS_ENDPOINT: url });
    expect(io.stdout).toMatch(
      /^RIGHT +RESULT +MESSAGE\necs:DescribeInstances +Allowed +the dry run succeeded\n/,
    );
    expect(io.stdout).toMatch(/ecs:RunInstances +Unknown +not tried: add --set/);
    expect(exitCodeOf(io)).toBe(1);
  });

  it('names what is missing for programs, and exits with 77', async () => {
    const { url, ecs } = await startCloud();
    ecs.denied.add('DescribeInstanceHistoryEvents');
    const io = await check({ ALIBABA_CLOUD_ECS_ENDPOINT: url }, '-o', 'json');
    const answer = JSON.parse(io.stdout) as { readonly checks: readonly ProviderCheck[] };
    expect(answer).toMatchObject({ provider: 'alibaba' });
    expect(answer.checks[1]).toMatchObject({ right: 'ecs:DescribeInstanceHistoryEvents', result: 'Missing' });
    expect(exitCodeOf(io)).toBe(77);
  });

  it('reports what the process lacks before any request, and prints no secret', async () => {
    await expect(check({ ALIBABA_CLOUD_REGION_ID: '' })).rejects.toThrow(
      'expected the region of the instances in ALIBABA_CLOUD_REGION_ID',
    );
    const { url, ecs } = await startCloud();
    ecs.denied.add('DescribeInstances');
    const io = await check({ ALIBABA_CLOUD_ECS_ENDPOINT: url });
    expect(io.stdout + io.stderr).not.toContain('test-secret');
  });
});

describe('checksExitCode', () => {
  it.each<[readonly ProviderCheck['result'][], number]>([
    [['Allowed', 'Allowed'], 0],
    [['Allowed', 'Unknown'], 1],
    [['Unknown', 'Missing'], 77],
    [['Refused'], 77],
  ])('of %j is %i', (results, expected) => {
    expect(checksExitCode(results.map((result) => ({ right: 'r', result, message: '' })))).toBe(expected);
  });
});
