/** Looks instances up, many by one request. */
import type { Instance as Ec2Instance } from '@aws-sdk/client-ec2';
import { byCode } from '../../kube/objects/digest.ts';
import { createBatch } from '../cloud/batch.ts';
import { tagsMissingError } from '../cloud/own-instances.ts';
import { formatFilter, matchesFilter, TAG_MACHINE_UID } from '../cloud/tags.ts';
import { type Instance, type InstanceFilter, ProviderError } from '../contract.ts';
import type { AwsClient } from './client.ts';
import { isTerminated, parseAwsId, readInstance } from './instance.ts';

export interface AwsLookup {
  /** Undefined: EC2 does not list it, or lists it as terminated. Throws when it is not ours. */
  byId(id: string, signal: AbortSignal): Promise<Instance | undefined>;
  /** All that were created for the Machine, and terminated less than an hour ago. */
  byMachine(machineUid: string, signal: AbortSignal): Promise<readonly Ec2Instance[]>;
  byFilter(filter: InstanceFilter, signal: AbortSignal): Promise<readonly Instance[]>;
}

/** EC2 accepts so many values in a filter. */
const MAX_VALUES = 200;

export function createAwsLookup(client: AwsClient): AwsLookup {
  const ids = createBatch<Ec2Instance>(async (keys) => {
    // As a filter, because an id that does not exist would fail the whole request.
    const found = await client.describe([{ Name: 'instance-id', Values: [...keys] }]);
    return new Map(found.map((each) => [each.InstanceId ?? '', each]));
  }, MAX_VALUES);

  const machines = createBatch<readonly Ec2Instance[]>(async (keys) => {
    const found = await client.describe([{ Name: `tag:${TAG_MACHINE_UID}`, Values: [...keys] }]);
    return Map.groupBy(found, (each) => readInstance(each)?.tags.machineUid ?? '');
  }, MAX_VALUES);

  return {
    async byId(id, signal) {
      const { zone, instanceId } = parseAwsId(id);
      throwIfOtherRegion(id, zone, client.region);
      const found = await ids.lookUp(instanceId, signal);
      if (!found || isTerminated(found)) return undefined;
      const instance = readInstance(found);
      if (instance) return instance;
      throw tagsMissingError(id, 'copy the tags kubenode-… of its volume to it');
    },
    byMachine: async (machineUid, signal) => (await machines.lookUp(machineUid, signal)) ?? [],
    async byFilter(filter, signal) {
      const filters = Object.entries(formatFilter(filter)).map(([name, value]) => ({
        Name: `tag:${name}`,
        Values: [escaped(value)],
      }));
      return readFound(await client.describe(filters, signal), filter);
    },
  };
}

/** Returns the instances that exist, by their ids. */
export function readFound(found: readonly Ec2Instance[], filter: InstanceFilter): readonly Instance[] {
  return found
    .filter((each) => !isTerminated(each))
    .flatMap((each) => readInstance(each) ?? [])
    .filter((each) => matchesFilter(each, filter))
    .toSorted((a, b) => byCode(a.id, b.id));
}

/** Not listed in this region is not the same as missing. */
function throwIfOtherRegion(id: string, zone: string, region: string): void {
  if (zone.startsWith(region)) return;
  const message = `instance ${id} is not in region ${region}: run kubenode controllers with AWS_REGION of its zone`;
  throw new ProviderError('Terminal', message, { reason: 'OtherRegion' });
}

/** In filters of EC2, * and ? match other characters. */
function escaped(value: string): string {
  return value.replaceAll(/[\\*?]/g, (character) => `\\${character}`);
}
