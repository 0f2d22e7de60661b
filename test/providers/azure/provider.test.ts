import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { NEVER, requestOf, SECRET } from '../contract/harness.ts';
import { type AzureBed, CONFIG, isVmGet, openAzureBed } from './bed.ts';
import { CLIENT_SECRET } from './server/tokens.ts';

const SHAPE = { config: CONFIG, host: 'systemd' } as const;

async function open(): Promise<AzureBed> {
  const bed = await openAzureBed();
  onTestFinished(() => bed[Symbol.asyncDispose]());
  return bed;
}

describe('the provider azure', () => {
  it('does not open without its place', async () => {
    const { openWith, env } = await open();
    expect(() => openWith({ env: { ...env, AZURE_RESOURCE_GROUP: '' } })).toThrow('AZURE_RESOURCE_GROUP');
  });

  it('asks for one token, and for another when that ends under way', async () => {
    const { provider, arm } = await open();
    const id = await provider.create(requestOf(SHAPE), NEVER);
    expect(arm.tokens.issued).toHaveLength(1);
    arm.tokens.expire();
    await expect(provider.get(id, NEVER)).rejects.toMatchObject({
      code: 'Auth',
      reason: 'ExpiredAuthenticationToken',
    });
    expect((await provider.get(id, NEVER))?.id).toBe(id);
    expect(arm.tokens.issued).toHaveLength(2);
  });

  it('has no secret in the error for credentials that are refused', async () => {
    const { openWith, env } = await open();
    const provider = openWith({ env: { ...env, AZURE_CLIENT_SECRET: `${CLIENT_SECRET}x` } });
    const error = await provider.create(requestOf(SHAPE), NEVER).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'Auth', reason: 'AADSTS7000215' });
    const text = inspect(error, { depth: 9 });
    expect([text.includes(CLIENT_SECRET), text.includes(SECRET)]).toEqual([false, false]);
  });

  it('works with the managed identity of its machine', async () => {
    const { openWith, env } = await open();
    const { AZURE_CLIENT_SECRET: _, AZURE_TENANT_ID: __, ...others } = env;
    const managed = { ...others, AZURE_POD_IDENTITY_AUTHORITY_HOST: env['AZURE_AUTHORITY_HOST'] };
    const provider = openWith({ env: managed });
    const id = await provider.create(requestOf(SHAPE), NEVER);
    expect((await provider.get(id, NEVER))?.state).toBe('Running');
  });

  it('does not take a resource group that is missing for a missing instance', async () => {
    const { openWith, env } = await open();
    const provider = openWith({ env: { ...env, AZURE_RESOURCE_GROUP: 'other' } });
    const filter = requestOf(SHAPE).tags;
    for (const each of [filter, { clusterUid: 'c' }]) {
      await expect(provider.find(each, NEVER)).rejects.toMatchObject({
        code: 'Terminal',
        reason: 'ResourceGroupNotFound',
      });
    }
  });

  it('neither uses, switches nor deletes a virtual machine whose tags a person changed', async () => {
    const { provider, arm, vmOf } = await open();
    const request = requestOf(SHAPE);
    const { machineUid } = request.tags;
    const id = await provider.create(request, NEVER);
    const vm = vmOf(machineUid);
    delete vm.tags['kubenode-cluster-uid'];
    for (const call of [
      () => provider.get(id, NEVER),
      () => provider.create(request, NEVER),
      () => provider.delete(id, NEVER),
      () => provider.power(id, 'off', NEVER),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: 'Terminal', reason: 'TagsMissing' });
    }
    expect([[...arm.vms.keys()], vm.power, arm.deployments.size]).toEqual([[vm.name], 'running', 0]);
  });

  it('leaves a virtual machine alone that a person gave the tags of another one', async () => {
    const { provider, arm, vmOf } = await open();
    const request = requestOf(SHAPE);
    const id = await provider.create(request, NEVER);
    const vm = vmOf(request.tags.machineUid);
    arm.vms.set('copy', { ...vm, name: 'copy' });
    const found = await provider.find({ clusterUid: request.tags.clusterUid }, NEVER);
    expect(found.map((each) => each.id)).toEqual([id]);
    await provider.delete(id, NEVER);
    expect([...arm.vms.keys()]).toEqual(['copy']);
  });

  it('reads the address of an instance once', async () => {
    const { provider, proxy } = await open();
    const id = await provider.create(requestOf(SHAPE), NEVER);
    for (let count = 0; count < 3; count += 1) {
      expect((await provider.get(id, NEVER))?.addresses).toEqual([
        { type: 'InternalIP', address: '10.0.0.4' },
      ]);
    }
    const reads = proxy.requests.filter(({ path }) => path.includes('/networkInterfaces/'));
    expect([reads.length, proxy.requests.filter(isVmGet).length]).toEqual([1, 4]);
  });
});
