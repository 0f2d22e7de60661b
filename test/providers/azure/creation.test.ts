import { describe, expect, it, onTestFinished } from 'vitest';
import { NEVER, requestOf } from '../contract/harness.ts';
import { type AzureBed, CONFIG, idOf, isVmGet, isVmPut, openAzureBed } from './bed.ts';
import { ArmRefusal, REFUSALS, refusalAnswer } from './server/refusal.ts';

const SHAPE = { config: CONFIG, host: 'systemd' } as const;

async function open(): Promise<AzureBed> {
  const bed = await openAzureBed();
  onTestFinished(() => bed[Symbol.asyncDispose]());
  return bed;
}

function locked(): ArmRefusal {
  return new ArmRefusal(409, 'ScopeLocked', 'locked');
}

describe('a creation of provider azure', () => {
  it('MAC-30 creates exactly one instance while every second answer is lost', async () => {
    const { provider, arm, proxy } = await open();
    for (let index = 0; index < 10; index += 1) {
      const request = requestOf(SHAPE);
      proxy.next(isVmPut, { type: 'LoseAnswer' });
      await expect(provider.create(request, NEVER)).rejects.toMatchObject({ code: 'Ambiguous' });
      await provider.create({ ...request, bootstrap: `other-${index}` }, NEVER);
    }
    expect(arm.vms.size).toBe(10);
  });

  it('never changes an instance that exists, also when it was not returned yet', async () => {
    const { provider, proxy, vmOf } = await open();
    const request = requestOf(SHAPE);
    await provider.create(request, NEVER);
    const { body } = vmOf(request.tags.machineUid);
    proxy.next(isVmGet, { type: 'Answer', answer: refusalAnswer(REFUSALS.noVm('x')) });
    await provider.create({ ...request, machine: 'other' }, NEVER);
    expect(vmOf(request.tags.machineUid).body).toBe(body);
  });

  it('does not know what happened while an instance exists and is not returned', async () => {
    const { provider, proxy } = await open();
    const request = requestOf(SHAPE);
    await provider.create(request, NEVER);
    for (const _ of 'ab') proxy.next(isVmGet, { type: 'Answer', answer: refusalAnswer(REFUSALS.noVm('x')) });
    await expect(provider.create(request, NEVER)).rejects.toMatchObject({
      code: 'Ambiguous',
      reason: 'NotListed',
    });
  });

  it('deletes an instance that Azure could not allocate, and creates it when there is capacity', async () => {
    const { provider, arm } = await open();
    const request = requestOf(SHAPE);
    arm.failCreation = { code: 'ZonalAllocationFailed', message: 'We do not have sufficient capacity.' };
    await expect(provider.create(request, NEVER)).rejects.toMatchObject({
      code: 'Quota',
      reason: 'ZonalAllocationFailed',
    });
    expect(arm.vms.size).toBe(0);
    arm.failCreation = undefined;
    await provider.create(request, NEVER);
    expect([arm.vms.size, arm.deployments.size]).toEqual([1, 0]);
  });

  it('names the cause, and what is left, when the instance that failed cannot be deleted', async () => {
    const { provider, arm } = await open();
    arm.failCreation = { code: 'AllocationFailed', message: 'no capacity' };
    arm.refuseNext(({ method }) => method === 'DELETE', locked);
    const error = await provider.create(requestOf(SHAPE), NEVER).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'Quota', reason: 'AllocationFailed' });
    expect(String(error)).toContain('The virtual machine that failed is not deleted yet: ScopeLocked');
  });

  it('returns an instance that Azure has not finished after a minute', async () => {
    const { provider, arm } = await open();
    arm.polls = 1000;
    const request = requestOf(SHAPE);
    const id = await provider.create(request, NEVER);
    expect([id, (await provider.get(id, NEVER))?.state]).toEqual([idOf(request.tags.machineUid), 'Pending']);
  });

  it('goes on when the answer to a poll is lost', async () => {
    const { provider, proxy } = await open();
    proxy.next(({ path }) => path.includes('/operations/'), { type: 'LoseAnswer' });
    const id = await provider.create(requestOf(SHAPE), NEVER);
    expect((await provider.get(id, NEVER))?.state).toBe('Running');
  });

  it('waits for an instance that is being deleted', async () => {
    const { provider, vmOf } = await open();
    const request = requestOf(SHAPE);
    await provider.create(request, NEVER);
    vmOf(request.tags.machineUid).provisioning = 'Deleting';
    await expect(provider.create(request, NEVER)).rejects.toMatchObject({
      code: 'Retryable',
      reason: 'Deleting',
    });
  });

  it('takes an operation beyond the quota for a limit, and not for one that may be repeated at once', async () => {
    const { provider, arm } = await open();
    arm.refuseNext(isVmPut, REFUSALS.noQuota);
    await expect(provider.create(requestOf(SHAPE), NEVER)).rejects.toMatchObject({
      code: 'Quota',
      reason: 'OperationNotAllowed',
    });
  });

  it('leaves nothing behind when its deletion begins between its look-up and its request', async () => {
    const { provider, proxy, arm } = await open();
    const request = requestOf(SHAPE);
    // The deletion found nothing, and wrote its record, while the request was under way.
    proxy.next(isVmPut, {
      type: 'ChangeAnswer',
      change: (answer) => {
        arm.deployments.set(`deleted-kubenode-${request.tags.machineUid}`, { isActive: false });
        return answer;
      },
    });
    await expect(provider.create(request, NEVER)).rejects.toMatchObject({
      code: 'Terminal',
      reason: 'Deleted',
    });
    expect(arm.vms.size).toBe(0);
  });
});
