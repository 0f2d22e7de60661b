import { describe, expect, it, onTestFinished } from 'vitest';
import type { CloudRequest } from '../cloud/cloud-proxy.ts';
import { NEVER, requestOf } from '../contract/harness.ts';
import { type AzureBed, CONFIG, openAzureBed } from './bed.ts';
import { ArmRefusal, REFUSALS } from './server/refusal.ts';
import type { Vm } from './server/vms.ts';

interface Bed extends AzureBed {
  readonly id: string;
  readonly vm: Vm;
}

async function open(): Promise<Bed> {
  const bed = await openAzureBed();
  onTestFinished(() => bed[Symbol.asyncDispose]());
  const request = requestOf({ config: CONFIG, host: 'systemd' });
  const id = await bed.provider.create(request, NEVER);
  return { ...bed, id, vm: bed.vmOf(request.tags.machineUid) };
}

function isRecordPut({ method, path }: CloudRequest): boolean {
  return method === 'PUT' && path.includes('/deployments/');
}

describe('a deletion of provider azure', () => {
  it('does not wait for the host, and leaves neither its interface nor its disk', async () => {
    const { provider, id, arm, proxy } = await open();
    await provider.delete(id, NEVER);
    const deletions = proxy.requests.filter(({ method }) => method === 'DELETE');
    expect(deletions.every(({ path }) => path.includes('forceDeletion=true'))).toBe(true);
    expect([arm.vms.size, arm.leaked]).toEqual([0, []]);
  });

  it('is recorded without touching what else is in the resource group', async () => {
    const { provider, id, arm, vm } = await open();
    const other = await provider.create(requestOf({ config: CONFIG, host: 'systemd' }), NEVER);
    await provider.delete(id, NEVER);
    expect([...arm.deployments.keys()]).toEqual([`deleted-${vm.name}`]);
    expect((await provider.get(other, NEVER))?.state).toBe('Running');
  });

  it('is final: another creation for its Machine requests no virtual machine', async () => {
    const bed = await openAzureBed();
    onTestFinished(() => bed[Symbol.asyncDispose]());
    const request = requestOf({ config: CONFIG, host: 'systemd' });
    await bed.provider.delete(await bed.provider.create(request, NEVER), NEVER);
    const before = bed.proxy.requests.length;
    await expect(bed.provider.create(request, NEVER)).rejects.toMatchObject({
      code: 'Terminal',
      reason: 'Deleted',
    });
    expect(bed.proxy.requests.slice(before).map(({ method }) => method)).not.toContain('PUT');
  });

  it('stops what costs although it cannot be recorded, and is complete when it is', async () => {
    const { provider, id, arm } = await open();
    arm.refuseNext(isRecordPut, () => new ArmRefusal(409, 'DeploymentQuotaExceeded', 'more than 800'));
    await expect(provider.delete(id, NEVER)).rejects.toMatchObject({
      code: 'Quota',
      reason: 'DeploymentQuotaExceeded',
    });
    expect([arm.vms.size, arm.deployments.size]).toEqual([0, 0]);
    await provider.delete(id, NEVER);
    expect(arm.deployments.size).toBe(1);
  });

  it('waits until an instance that is busy can be deleted', async () => {
    const { provider, id, arm } = await open();
    arm.refuseNext(({ method }) => method === 'DELETE', REFUSALS.busy);
    await provider.delete(id, NEVER);
    expect(arm.vms.size).toBe(0);
  });

  it('names a lock that a person put on the instance', async () => {
    const { provider, id, arm } = await open();
    arm.refuseNext(
      ({ method }) => method === 'DELETE',
      () => new ArmRefusal(409, 'ScopeLocked', 'locked'),
    );
    await expect(provider.delete(id, NEVER)).rejects.toMatchObject({
      code: 'Terminal',
      reason: 'ScopeLocked',
    });
    expect(arm.vms.size).toBe(1);
  });

  it('is repeated when it takes longer than half a minute', async () => {
    const { provider, id, arm } = await open();
    arm.polls = 1000;
    await expect(provider.delete(id, NEVER)).rejects.toMatchObject({ code: 'Retryable', reason: 'Deleting' });
    expect(arm.vms.size).toBe(1);
  });
});
