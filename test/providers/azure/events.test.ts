import { describe, expect, it, onTestFinished } from 'vitest';
import { NEVER, requestOf } from '../contract/harness.ts';
import { type AzureBed, CONFIG, openAzureBed } from './bed.ts';
import { GROUP, type HealthEvent } from './server/arm.ts';
import type { Vm } from './server/vms.ts';

interface Bed extends AzureBed {
  readonly id: string;
  readonly vm: Vm;
  /** The id of the virtual machine as Azure writes it. */
  readonly resource: string;
}

async function open(): Promise<Bed> {
  const bed = await openAzureBed();
  onTestFinished(() => bed[Symbol.asyncDispose]());
  const request = requestOf({ config: CONFIG, host: 'systemd' });
  const id = await bed.provider.create(request, NEVER);
  const vm = bed.vmOf(request.tags.machineUid);
  const resource = `${GROUP.replace('nodes', 'NODES')}/providers/Microsoft.Compute/virtualMachines/${vm.name}`;
  return { ...bed, id, vm, resource };
}

function planned(changes: Partial<HealthEvent>): HealthEvent {
  return {
    name: 'BC_1-FXZ',
    eventType: 'PlannedMaintenance',
    status: 'Active',
    impactStartTime: '2030-02-01T08:00:00Z',
    impacted: [],
    ...changes,
  };
}

describe('the events of provider azure', () => {
  it('are planned maintenance of our instances, with its time', async () => {
    const { provider, id, resource, arm } = await open();
    arm.events.push(planned({ impacted: [undefined, resource, resource] }));
    expect(await provider.events(NEVER)).toEqual([
      { eventId: 'BC_1-FXZ', instanceId: id, type: 'Other', notBefore: new Date('2030-02-01T08:00:00Z') },
    ]);
  });

  it('are a redeployment where the instance has a window for it', async () => {
    const { provider, id, resource, arm, vm } = await open();
    vm.maintenance = {
      isCustomerInitiatedMaintenanceAllowed: true,
      maintenanceWindowStartTime: '2030-02-09T00:00:00+00:00',
    };
    arm.events.push(planned({ impacted: [resource] }));
    expect(await provider.events(NEVER)).toEqual([
      { eventId: 'BC_1-FXZ', instanceId: id, type: 'Redeploy', notBefore: new Date('2030-02-09T00:00:00Z') },
    ]);
  });

  it.each([
    ['an outage', { eventType: 'ServiceIssue' }],
    ['maintenance that is over', { status: 'Resolved' }],
  ])('are not %s', async (_, changes) => {
    const { provider, resource, arm } = await open();
    arm.events.push(planned({ impacted: [resource], ...changes }));
    expect(await provider.events(NEVER)).toEqual([]);
  });

  it.each([
    ['of another group', (resource: string) => resource.replace('NODES', 'web')],
    ['without our name', (resource: string) => resource.replace('kubenode-', '')],
    ['that was deleted', (resource: string) => resource.replace(/kubenode-......../, 'kubenode-00000000')],
  ])('are not those of a machine %s', async (_, change) => {
    const { provider, resource, arm } = await open();
    arm.events.push(planned({ impacted: [change(resource)] }));
    expect(await provider.events(NEVER)).toEqual([]);
  });

  it('are all, also those of the second page', async () => {
    const { provider, resource, arm } = await open();
    for (let index = 0; index < 7; index += 1) {
      arm.events.push(
        planned({
          name: `E-${index}`,
          impacted: index === 6 ? [...Array.from({ length: 6 }, () => undefined), resource] : [],
        }),
      );
    }
    expect((await provider.events(NEVER)).map(({ eventId }) => eventId)).toEqual(['E-6']);
  });

  it('take one request while nothing is planned', async () => {
    const { provider, proxy } = await open();
    const before = proxy.requests.length;
    await provider.events(NEVER);
    expect(proxy.requests.length - before).toBe(1);
  });

  it.each([
    ['an event', /events\?/, { name: 'a/b', properties: {} }],
    ['a machine of it', /impactedResources/, { properties: null }],
  ])('are not read in part: %s that cannot be read fails all', async (_, path, entry) => {
    const { provider, resource, arm, proxy } = await open();
    arm.events.push(planned({ impacted: [resource] }));
    proxy.next((request) => path.test(request.path), {
      type: 'ChangeAnswer',
      change: (answer) => ({ ...answer, body: JSON.stringify({ value: [entry] }) }),
    });
    await expect(provider.events(NEVER)).rejects.toMatchObject({ code: 'Retryable', reason: 'BadAnswer' });
  });
});
