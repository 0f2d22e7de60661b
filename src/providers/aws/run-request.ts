/** Makes the request that creates an instance. The same Machine gives the same request, except for its bootstrap file. Pure. */
import { createHash } from 'node:crypto';
import type { RunInstancesCommandInput, TagSpecification } from '@aws-sdk/client-ec2';
import { optional } from '../../kube/objects/optional.ts';
import { formatTags } from '../cloud/tags.ts';
import { type AgentDownload, formatUserData } from '../cloud/user-data.ts';
import type { InstanceRequest } from '../contract.ts';
import { type AwsConfig, readAwsConfig } from './config.ts';

const TAGGED = ['instance', 'volume', 'network-interface'] as const;

/** The UID of the Machine is the ClientToken: EC2 creates one instance for it, however often it is asked. */
export function runRequest(request: InstanceRequest, agent: AgentDownload): RunInstancesCommandInput {
  const config = readAwsConfig(request);
  return {
    ClientToken: request.tags.machineUid,
    MinCount: 1,
    MaxCount: 1,
    ...machineFields(config),
    ...placeFields(request, config),
    // Without a session a container cannot read the user data: with one hop, only processes in the network of the host can.
    MetadataOptions: {
      HttpEndpoint: 'enabled',
      HttpTokens: 'required',
      HttpPutResponseHopLimit: config.metadataHopLimit,
    },
    TagSpecifications: tagFields(request, config),
    ...optional('UserData', userData(request, agent)),
  };
}

function machineFields(config: AwsConfig): Partial<RunInstancesCommandInput> {
  const { launchTemplate, instanceType, imageId, iamInstanceProfile, keyName, spot } = config;
  const template = launchTemplate && {
    ...optional('LaunchTemplateId', launchTemplate.id),
    ...optional('LaunchTemplateName', launchTemplate.name),
    Version: launchTemplate.version,
  };
  return {
    ...optional('LaunchTemplate', template),
    ...optional<'InstanceType', RunInstancesCommandInput['InstanceType']>(
      'InstanceType',
      typeOf(instanceType),
    ),
    ...optional('ImageId', imageId),
    ...optional('KeyName', keyName),
    ...optional('IamInstanceProfile', profileFields(iamInstanceProfile)),
    ...optional('InstanceMarketOptions', spot && spotFields(spot)),
    ...rootVolumeFields(config),
  };
}

function profileFields(profile: string | undefined): RunInstancesCommandInput['IamInstanceProfile'] {
  if (profile === undefined) return undefined;
  return profile.startsWith('arn:') ? { Arn: profile } : { Name: profile };
}

/** A one-time request: a spot instance that was taken back is never started again beside its replacement. */
function spotFields({
  maxPrice,
}: NonNullable<AwsConfig['spot']>): RunInstancesCommandInput['InstanceMarketOptions'] {
  const options = { SpotInstanceType: 'one-time', InstanceInterruptionBehavior: 'terminate' } as const;
  return { MarketType: 'spot', SpotOptions: { ...options, ...optional('MaxPrice', maxPrice) } };
}

function rootVolumeFields({ rootVolume }: AwsConfig): Partial<RunInstancesCommandInput> {
  if (!rootVolume) return {};
  const { deviceName, sizeGiB, type, iops, throughput, encrypted, kmsKeyId } = rootVolume;
  const ebs = {
    VolumeSize: sizeGiB,
    VolumeType: type,
    Encrypted: encrypted,
    // Nothing of a deleted instance costs anything.
    DeleteOnTermination: true,
    ...optional('Iops', iops),
    ...optional('Throughput', throughput),
    ...optional('KmsKeyId', kmsKeyId),
  };
  return { BlockDeviceMappings: [{ DeviceName: deviceName, Ebs: ebs }] };
}

function placeFields({ zone, tags }: InstanceRequest, config: AwsConfig): Partial<RunInstancesCommandInput> {
  const { subnetIds, securityGroupIds } = config;
  const chosen = zone ?? (subnetIds && chooseZone(Object.keys(subnetIds), tags.machineUid));
  const subnet = chosen === undefined ? undefined : subnetIds?.[chosen];
  return {
    ...(subnet === undefined
      ? optional('Placement', zone === undefined ? undefined : { AvailabilityZone: zone })
      : { SubnetId: subnet }),
    ...optional('SecurityGroupIds', securityGroupIds),
  };
}

/** Spreads the machines over the zones. A repeated request must choose the same one. */
export function chooseZone(zones: readonly string[], machineUid: string): string | undefined {
  const number = createHash('sha256').update(machineUid).digest().readUInt32BE();
  return zones.toSorted()[number % zones.length];
}

function tagFields(request: InstanceRequest, { tags, spot }: AwsConfig): TagSpecification[] {
  const all = { Name: request.machine, ...tags, ...formatTags(request) };
  const list = Object.entries(all).map(([Key, Value]) => ({ Key, Value }));
  const types = [...TAGGED, ...(spot ? (['spot-instances-request'] as const) : [])];
  return types.map((type) => ({ ResourceType: type, Tags: list }));
}

function userData({ machine, bootstrap }: InstanceRequest, agent: AgentDownload): string | undefined {
  if (bootstrap === undefined) return undefined;
  return Buffer.from(formatUserData({ machine, bootstrap, agent })).toString('base64');
}

/** EC2 has new types before the SDK lists them. */
function typeOf(name: string | undefined): RunInstancesCommandInput['InstanceType'] {
  return name as RunInstancesCommandInput['InstanceType'];
}
