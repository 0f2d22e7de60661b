import { describe, expect, it, onTestFinished } from 'vitest';
import { planAzurePower } from '../../../src/providers/azure/power.ts';
import { NEVER, requestOf } from '../contract/harness.ts';
import { type AzureBed, CONFIG, openAzureBed } from './bed.ts';
import { ArmRefusal } from './server/refusal.ts';
import type { Vm } from './server/vms.ts';

interface Bed extends AzureBed {
  readonly id: string;
  readonly vm: Vm;
  readonly posts: () => readonly string[];
}

async function open(): Promise<Bed> {
  const bed = await openAzureBed();
  onTestFinished(() => bed[Symbol.asyncDispose]());
  const request = requestOf({ config: CONFIG, host: 'systemd' });
  const id = await bed.provider.create(request, NEVER);
  const posts = (): readonly string[] =>
    bed.proxy.requests
      .filter(({ method, path }) => method === 'POST' && path.includes('/virtualMachines/'))
      .map(({ path }) => path.replace(/.*\/(\w+)\?api-version=[\d-]+/, '$1'));
  return { ...bed, id, vm: bed.vmOf(request.tags.machineUid), posts };
}

function noRight(): ArmRefusal {
  return new ArmRefusal(403, 'AuthorizationFailed', 'no right');
}

describe('planAzurePower', () => {
  it.each([
    ['Running', 'off', 'powerOff'],
    ['Unknown', 'off', 'powerOff'],
    ['Pending', 'off', 'powerOff'],
    ['Stopped', 'off', undefined],
    ['Stopped', 'on', 'start'],
    ['Unknown', 'on', 'start'],
    ['Running', 'on', undefined],
    ['Running', 'cycle', 'restart'],
    ['Unknown', 'cycle', 'restart'],
    ['Stopped', 'cycle', 'start'],
  ] as const)('from %s to %s: %s', (state, action, act) => {
    expect(planAzurePower(state, action)?.act).toBe(act);
  });
});

describe('the power of provider azure', () => {
  it('goes off without asking the host, and the instance keeps its place', async () => {
    const { provider, id, posts, vm } = await open();
    await provider.power(id, 'off', NEVER);
    expect([posts(), vm.power]).toEqual([['powerOff&skipShutdown=true'], 'stopped']);
  });

  it('cycles by one request, so that no process that ends in between leaves the instance off', async () => {
    const { provider, id, posts } = await open();
    await provider.power(id, 'cycle', NEVER);
    expect(posts()).toEqual(['restart']);
  });

  it('is accepted once while the operation takes longer than a minute', async () => {
    const { provider, id, arm, posts, vm } = await open();
    arm.polls = 1000;
    await provider.power(id, 'off', NEVER);
    expect([posts(), vm.power]).toEqual([['powerOff&skipShutdown=true'], 'running']);
  });

  it('fails when the operation fails, with its code', async () => {
    const { provider, id, vm, proxy } = await open();
    vm.power = 'deallocated';
    const error = { code: 'AllocationFailed', message: 'no capacity' };
    proxy.next(({ path }) => path.includes('/operations/'), {
      type: 'ChangeAnswer',
      change: (answer) => ({ ...answer, body: JSON.stringify({ status: 'Failed', error }) }),
    });
    await expect(provider.power(id, 'on', NEVER)).rejects.toMatchObject({
      code: 'Quota',
      reason: 'AllocationFailed',
    });
  });

  it('fails without the right, and leaves the instance as it is', async () => {
    const { provider, id, vm, arm } = await open();
    arm.refuseNext(({ method }) => method === 'POST', noRight);
    await expect(provider.power(id, 'off', NEVER)).rejects.toMatchObject({ code: 'Auth' });
    expect(vm.power).toBe('running');
  });
});
