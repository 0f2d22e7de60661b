/** `kubenode provider check --set` with MachineSets of a real API server and our server of ECS. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { MACHINE_SETS } from '../../../src/api/generated/resources.ts';
import { createProviderCheckCommand } from '../../../src/cli/commands/provider/check.ts';
import { exitCodeOf } from '../../../src/cli/exit.ts';
import { CONFIG } from '../../providers/alibaba/harness.ts';
import { type EcsServer, startEcsServer } from '../../providers/alibaba/server/server.ts';
import { machineSet, template } from '../../support/machine-sets.ts';
import { type TestIo, testIo } from '../../support/test-io.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';

let installed: InstalledServer;

beforeAll(async () => {
  installed = await startInstalledServer();
  await declareSet('web', 'alibaba', CONFIG);
  await declareSet('empty', 'alibaba', {});
  await declareSet('wrong', 'alibaba', { ...CONFIG, subnetIds: 7 });
  await declareSet('elsewhere', 'aws', {});
});
afterAll(() => installed?.stop());

async function declareSet(name: string, provider: 'alibaba' | 'aws', config: object): Promise<void> {
  const parts = template({ infra: { provider, config: { ...config } }, host: { type: 'systemd' } });
  const { metadata: _, ...set } = machineSet(0, { spec: { template: parts } });
  await installed.server.client.create(MACHINE_SETS, { ...set, metadata: { name } });
}

async function startCloud(): Promise<EcsServer> {
  const server = await startEcsServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

async function check({ url }: EcsServer, set: string): Promise<TestIo> {
  const io = testIo({
    env: {
      ALIBABA_CLOUD_REGION_ID: 'cn-hangzhou',
      ALIBABA_CLOUD_ACCESS_KEY_ID: 'LTAI5test',
      ALIBABA_CLOUD_ACCESS_KEY_SECRET: 'test-secret',
      ALIBABA_CLOUD_ECS_ENDPOINT: url,
    },
  });
  const args = ['alibaba', '--set', set, '--kubeconfig', installed.server.kubeconfig];
  await createProviderCheckCommand(io).exitOverride().parseAsync(args, { from: 'user' });
  return io;
}

describe('kubenode provider check --set', () => {
  it('tries the creation of an instance of the set, and creates none', async () => {
    const cloud = await startCloud();
    const io = await check(cloud, 'web');
    expect(io.stdout).toMatch(/ecs:RunInstances +Allowed +the dry run succeeded/);
    expect(cloud.ecs.instances.size).toBe(0);
    cloud.ecs.denied.add('RunInstances');
    const denied = await check(cloud, 'web');
    expect(denied.stdout).toMatch(/ecs:RunInstances +Missing/);
    expect(exitCodeOf(denied)).toBe(77);
  });

  it.each([
    ['empty', 'spec.infra.config asks for no instance'],
    ['wrong', 'spec.infra.config'],
    ['elsewhere', 'MachineSet elsewhere has provider aws, not alibaba'],
    ['missing', 'MachineSet missing does not exist in this cluster'],
  ])('refuses the set %s before any request to the cloud', async (set, message) => {
    const checked = check(await startCloud(), set);
    await expect(checked).rejects.toMatchObject({ exitCode: 65 });
    await expect(checked).rejects.toThrow(message);
  });
});
