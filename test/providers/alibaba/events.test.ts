import { describe, expect, it, onTestFinished } from 'vitest';
import { readEvent } from '../../../src/providers/alibaba/events.ts';
import { NEVER, requestOf } from '../contract/harness.ts';
import { HISTORY_EVENTS } from './documented.ts';
import { type AlibabaHarness, CONFIG, openAlibabaHarness } from './harness.ts';

async function open(): Promise<AlibabaHarness> {
  const harness = await openAlibabaHarness();
  onTestFinished(() => harness[Symbol.asyncDispose]());
  return harness;
}

describe('readEvent', () => {
  it('reads the documented answer', () => {
    expect(HISTORY_EVENTS.map((each) => readEvent(each, 'cn-shanghai'))).toEqual([
      {
        eventId: 'e-uf64yvznlao4jl2c0000',
        instanceId: 'alibaba://cn-shanghai.i-uf678mass4zvr9n10000',
        type: 'Reboot',
        notBefore: new Date('2017-12-01T06:32:31Z'),
      },
      {
        eventId: 'e-uf61cbvp0w8x2xfx0000',
        instanceId: 'alibaba://cn-shanghai.i-uf678mass4zvr9n10000',
        type: 'Stop',
        notBefore: new Date('2017-12-06T00:00:00Z'),
      },
    ]);
  });

  it.each([
    ['SystemMaintenance.Redeploy', 'Redeploy'],
    ['SystemFailure.Redeploy', 'Redeploy'],
    ['SystemFailure.Reboot', 'Reboot'],
    ['InstanceFailure.Reboot', 'Reboot'],
    ['SystemMaintenance.RebootAndIsolateErrorDisk', 'Reboot'],
    ['SystemMaintenance.StopAndRepair', 'Stop'],
    ['SystemMaintenance.Stop', 'Stop'],
    ['SystemFailure.Delete', 'Stop'],
    ['AccountUnbalanced.Stop', 'Stop'],
    ['SystemMaintenance.IsolateErrorDisk', 'DiskFault'],
    ['SystemMaintenance.CleanInactiveDisks', 'DiskFault'],
    ['SystemUpgrade.Migrate', 'Redeploy'],
    ['SecurityPunish.Locked', 'Other'],
  ])('takes %s for %s', (Name, want) => {
    expect(readEvent({ ...HISTORY_EVENTS[0], EventType: { Name } }, 'cn-hangzhou').type).toBe(want);
  });

  it('throws for an event that cannot be read, so that no maintenance is overlooked', () => {
    expect(() => readEvent({ EventId: 'e-1' }, 'cn-hangzhou')).toThrow('cannot be read');
  });
});

describe('MAC-37 the events of provider alibaba', () => {
  it('are those that are decided, of our instances only, over all pages', async () => {
    const { provider, server } = await open();
    const id = await provider.create(requestOf({ config: CONFIG, host: 'systemd' }), NEVER);
    const instanceId = id.split('.')[1] ?? '';
    const event = { instanceId, type: 'SystemMaintenance.Reboot', notBefore: '2030-01-01T00:00:00Z' };
    for (let index = 0; index < 120; index += 1) {
      server.ecs.events.push({ ...event, id: `e-other${index}`, instanceId: 'i-other', status: 'Scheduled' });
    }
    for (const status of ['Scheduled', 'Executing', 'Inquiring', 'Canceled', 'Avoided', 'Executed']) {
      server.ecs.events.push({ ...event, id: `e-${status}`, status });
    }
    const events = await provider.events(NEVER);
    expect(events.map(({ eventId }) => eventId)).toEqual(['e-Scheduled', 'e-Executing']);
    expect(events[0]).toEqual({
      eventId: 'e-Scheduled',
      instanceId: id,
      type: 'Reboot',
      notBefore: new Date('2030-01-01T00:00:00Z'),
    });
  });
});
