/**
 * Reads instances as DescribeInstances lists them. An id is `alibaba://<region>.<instance>`: what follows the slashes is the providerID that
 * Alibaba Cloud's own controller writes to Nodes. Pure.
 */
import { z } from 'zod';
import { invalidIdError } from '../cloud/request.ts';
import { readTags } from '../cloud/tags.ts';
import { type Instance, ProviderError } from '../contract.ts';

const PREFIX = 'alibaba://';
const ID = /^alibaba:\/\/(?<region>[a-z]{2}(?:-[a-z0-9]+){1,4})\.(?<instance>i-[0-9a-z]{1,60})$/;

export function formatAlibabaId(region: string, instance: string): string {
  return `${PREFIX}${region}.${instance}`;
}

/** Returns the id at ECS. Refuses any id that this process did not give. */
export function parseAlibabaId(id: string, region: string): string {
  const { region: named, instance } = ID.exec(id)?.groups ?? {};
  if (named === undefined || instance === undefined) throw invalidIdError('alibaba', id);
  if (named === region) return instance;
  const message = `instance ${id} is not in region ${region}, in which this process works`;
  throw new ProviderError('Terminal', message, { reason: 'OtherRegion' });
}

const addresses = z.object({ IpAddress: z.array(z.string()).default([]) }).optional();

const listed = z.object({
  InstanceId: z.string().regex(/^i-[0-9a-z]{1,60}$/),
  Status: z.string(),
  ZoneId: z.string().optional(),
  CreationTime: z.string(),
  Tags: z
    .object({ Tag: z.array(z.object({ TagKey: z.string(), TagValue: z.string().default('') })).default([]) })
    .optional(),
  VpcAttributes: z.object({ PrivateIpAddress: addresses }).optional(),
  PublicIpAddress: addresses,
  EipAddress: z.object({ IpAddress: z.string().optional() }).optional(),
});

export type ListedInstance = Readonly<z.infer<typeof listed>>;

/** A host that is being stopped may still run: nothing may rely on the one or the other. */
const STATES: Readonly<Record<string, Instance['state']>> = {
  Pending: 'Pending',
  Starting: 'Pending',
  Running: 'Running',
  Stopped: 'Stopped',
};
const MAX_ADDRESSES = 8;

/** Throws for an entry that cannot be read: its instance is neither there nor missing. */
export function readListed(value: unknown): ListedInstance {
  const { data } = listed.safeParse(value);
  if (data && !Number.isNaN(Date.parse(data.CreationTime))) return data;
  throw new ProviderError('Retryable', 'an instance in the answer of Alibaba Cloud cannot be read', {
    reason: 'BadAnswer',
  });
}

/** Undefined: without our tags, so not ours. */
export function readEcsInstance(found: ListedInstance, region: string): Instance | undefined {
  const tags = (found.Tags?.Tag ?? []).map(({ TagKey, TagValue }) => ({ name: TagKey, value: TagValue }));
  const ours = readTags(tags);
  return (
    ours && {
      ...ours,
      id: formatAlibabaId(region, found.InstanceId),
      state: STATES[found.Status] ?? 'Unknown',
      ...(found.ZoneId ? { zone: found.ZoneId } : {}),
      addresses: readAddresses(found),
      createdAt: new Date(found.CreationTime),
    }
  );
}

function readAddresses({
  VpcAttributes,
  PublicIpAddress,
  EipAddress,
}: ListedInstance): Instance['addresses'] {
  const inside = VpcAttributes?.PrivateIpAddress?.IpAddress ?? [];
  const outside = [...(PublicIpAddress?.IpAddress ?? []), EipAddress?.IpAddress ?? ''];
  return [
    ...inside.map((address) => ({ type: 'InternalIP', address })),
    ...outside.map((address) => ({ type: 'ExternalIP', address })),
  ]
    .filter(({ address }) => address !== '' && address.length <= 253)
    .slice(0, MAX_ADDRESSES);
}
