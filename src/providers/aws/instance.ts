/** Reads instances as EC2 describes them. Pure. */
import type { Instance as Ec2Instance } from '@aws-sdk/client-ec2';
import { invalidIdError } from '../cloud/request.ts';
import { readTags } from '../cloud/tags.ts';
import type { Instance } from '../contract.ts';

/** As the cloud provider of Kubernetes writes `spec.providerID` of a Node. */
const ID = /^aws:\/\/\/([a-z0-9-]{1,63})\/(i-[0-9a-f]{8,32})$/;

export interface AwsId {
  readonly zone: string;
  readonly instanceId: string;
}

export function formatAwsId({ zone, instanceId }: AwsId): string {
  return `aws:///${zone}/${instanceId}`;
}

export function parseAwsId(id: string): AwsId {
  const [, zone, instanceId] = ID.exec(id) ?? [];
  if (zone === undefined || instanceId === undefined) throw invalidIdError('aws', id);
  return { zone, instanceId };
}

const STATES: Readonly<Record<string, Instance['state']>> = {
  pending: 'Pending',
  running: 'Running',
  stopped: 'Stopped',
};

/** Terminated instances are listed for another hour. */
export function isTerminated({ State }: Ec2Instance): boolean {
  return State?.Name === 'terminated';
}

/** Tells whether the instance has ended, or is ending: its token creates no other one. */
export function isEnding({ State }: Ec2Instance): boolean {
  return State?.Name === 'terminated' || State?.Name === 'shutting-down';
}

export function awsIdOf({ InstanceId, Placement }: Ec2Instance): string {
  return formatAwsId({ zone: Placement?.AvailabilityZone ?? '', instanceId: InstanceId ?? '' });
}

/** Undefined: its tags do not name a Machine. */
export function readInstance(instance: Ec2Instance): Instance | undefined {
  const { Tags = [], State, Placement } = instance;
  const ours = readTags(Tags.map(({ Key = '', Value = '' }) => ({ name: Key, value: Value })));
  if (!ours) return undefined;
  return {
    id: awsIdOf(instance),
    ...ours,
    // Stopping and shutting-down: it may still run.
    state: STATES[State?.Name ?? ''] ?? 'Unknown',
    ...(Placement?.AvailabilityZone === undefined ? {} : { zone: Placement.AvailabilityZone }),
    addresses: addressesOf(instance),
    createdAt: createdAt(instance),
  };
}

/** The private ones: a public address changes with each start. */
function addressesOf({ PrivateIpAddress: ip, PrivateDnsName: name }: Ec2Instance): Instance['addresses'] {
  return [
    ...(ip ? [{ type: 'InternalIP' as const, address: ip }] : []),
    ...(name ? [{ type: 'InternalDNS' as const, address: name }] : []),
  ];
}

/** LaunchTime is that of the last start; the first network interface is attached once. */
function createdAt({ LaunchTime, NetworkInterfaces = [] }: Ec2Instance): Date {
  const first = NetworkInterfaces.find(({ Attachment }) => Attachment?.DeviceIndex === 0);
  return first?.Attachment?.AttachTime ?? LaunchTime ?? new Date(0);
}
