/** Reads the system events of instances. Pure. */
import { z } from 'zod';
import { type InstanceEvent, ProviderError } from '../contract.ts';
import { formatAlibabaId } from './instance.ts';

/** The states of events that are decided. One that is `Inquiring` waits for an answer, and may never come. */
export const DECIDED_STATES = ['Scheduled', 'Executing'] as const;

const event = z.object({
  EventId: z.string().min(1).max(128),
  InstanceId: z.string().regex(/^i-[0-9a-z]{1,60}$/),
  EventType: z.object({ Name: z.string() }),
  EventCycleStatus: z.object({ Name: z.string() }),
  NotBefore: z.string().optional(),
});

/** By the end of the names of ECS, such as SystemMaintenance.Reboot. */
const TYPES: readonly (readonly [ending: RegExp, type: string])[] = [
  [/\.Redeploy$/, 'Redeploy'],
  [/\.Reboot(And\w+)?$/, 'Reboot'],
  [/^SystemMaintenance\.StopAndRepair$/, 'Stop'],
  [/\.(Stop|Delete)$/, 'Stop'],
  [/\.(IsolateErrorDisk|ReInitErrorDisk|CleanInactiveDisks)$/, 'DiskFault'],
  [/\.Migrate$/, 'Redeploy'],
];

/** Throws for an entry that cannot be read: maintenance must not be overlooked in silence. */
export function readEvent(value: unknown, region: string): InstanceEvent {
  const { data } = event.safeParse(value);
  if (!data) {
    throw new ProviderError('Retryable', 'a system event in the answer of Alibaba Cloud cannot be read', {
      reason: 'BadAnswer',
    });
  }
  const notBefore = new Date(data.NotBefore ?? '');
  return {
    eventId: data.EventId,
    instanceId: formatAlibabaId(region, data.InstanceId),
    type: typeOf(data.EventType.Name),
    ...(Number.isNaN(notBefore.getTime()) ? {} : { notBefore }),
  };
}

function typeOf(name: string): string {
  return TYPES.find(([ending]) => ending.test(name))?.[1] ?? 'Other';
}
