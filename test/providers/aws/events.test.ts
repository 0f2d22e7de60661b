import type { EventCode, InstanceStatusEvent } from '@aws-sdk/client-ec2';
import { describe, expect, it } from 'vitest';
import { readEvents } from '../../../src/providers/aws/events.ts';

const NOT_BEFORE = new Date('2026-12-01T00:00:00Z');

function eventsOf(event: Partial<InstanceStatusEvent>): ReturnType<typeof readEvents> {
  const Events = [{ InstanceEventId: 'instance-event-1', NotBefore: NOT_BEFORE, ...event }];
  return readEvents({ InstanceId: 'i-0123456789abcdef0', AvailabilityZone: 'us-east-1a', Events });
}

describe('readEvents', () => {
  it('reads an event with its times', () => {
    const deadline = new Date('2026-12-03T00:00:00Z');
    expect(eventsOf({ Code: 'instance-reboot', NotBeforeDeadline: deadline })).toEqual([
      {
        eventId: 'instance-event-1',
        instanceId: 'aws:///us-east-1a/i-0123456789abcdef0',
        type: 'Reboot',
        notBefore: NOT_BEFORE,
        deadline,
      },
    ]);
  });

  it.each<[EventCode, string, string]>([
    ['instance-reboot', 'The instance will be rebooted', 'Reboot'],
    ['system-reboot', '', 'Reboot'],
    ['system-maintenance', 'Power maintenance', 'Reboot'],
    ['system-maintenance', 'Scheduled network maintenance', 'Network'],
    ['instance-stop', '', 'Stop'],
    ['instance-retirement', 'The instance is running on degraded hardware', 'Stop'],
  ])('takes %s (%s) as %s', (Code, Description, expected) => {
    expect(eventsOf({ Code, Description }).map(({ type }) => type)).toEqual([expected]);
  });

  it('knows no type that EC2 may add', () => {
    expect(eventsOf({})[0]?.type).toBe('Other');
  });

  it.each(['[Completed] The instance was rebooted', '[Canceled] Reboot', '[completed] x'])(
    'leaves out what has ended: %s',
    (Description) => {
      expect(eventsOf({ Code: 'system-reboot', Description })).toEqual([]);
    },
  );

  it('reads no event that has no id, and none without an instance', () => {
    const event = { Code: 'system-reboot', InstanceEventId: 'e' } as const;
    expect(
      readEvents({ InstanceId: 'i-0a', AvailabilityZone: 'a', Events: [{ Code: 'system-reboot' }] }),
    ).toEqual([]);
    expect(readEvents({ AvailabilityZone: 'a', Events: [event] })).toEqual([]);
    expect(readEvents({ InstanceId: 'i-0a', Events: [event] })).toEqual([]);
  });
});
