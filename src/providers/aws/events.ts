/** Reads the scheduled events of instances. Pure. */
import type { InstanceStatus, InstanceStatusEvent } from '@aws-sdk/client-ec2';
import { optional } from '../../kube/objects/optional.ts';
import type { InstanceEvent } from '../contract.ts';
import { formatAwsId } from './instance.ts';

/** The codes of events, each with the type of a MaintenanceEvent. */
const TYPES: Readonly<Record<string, string>> = {
  'instance-reboot': 'Reboot',
  'system-reboot': 'Reboot',
  'system-maintenance': 'Reboot',
  'instance-stop': 'Stop',
  'instance-retirement': 'Stop',
};

export const EVENT_CODES: readonly string[] = Object.keys(TYPES);

/** EC2 lists events for a week after they ended, with this before their description. */
const ENDED = /^\[(Completed|Canceled)\]/i;

export function readEvents({
  InstanceId,
  AvailabilityZone,
  Events = [],
}: InstanceStatus): readonly InstanceEvent[] {
  if (InstanceId === undefined || AvailabilityZone === undefined) return [];
  const instanceId = formatAwsId({ zone: AvailabilityZone, instanceId: InstanceId });
  return Events.flatMap((event) => {
    const { InstanceEventId: eventId, Description = '', NotBefore, NotBeforeDeadline } = event;
    if (eventId === undefined || ENDED.test(Description)) return [];
    const times = { ...optional('notBefore', NotBefore), ...optional('deadline', NotBeforeDeadline) };
    return [{ eventId, instanceId, type: typeOf(event), ...times }];
  });
}

/** Maintenance of the system is about the network, or about the power: then the instance is rebooted. */
function typeOf({ Code, Description = '' }: InstanceStatusEvent): string {
  if (Code === 'system-maintenance' && /network/i.test(Description)) return 'Network';
  return TYPES[Code ?? ''] ?? 'Other';
}
