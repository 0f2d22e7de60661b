/** Forms the request of RunInstances. Pure. */

import { formatTags } from '../cloud/tags.ts';
import { type AgentDownload, formatUserData } from '../cloud/user-data.ts';
import { type InstanceRequest, ProviderError } from '../contract.ts';
import type { ApiQuery } from './api/client.ts';
import { type AlibabaConfig, MAX_TAG_LENGTH, readAlibabaConfig, vSwitchOf } from './config.ts';

/** The limit of ECS, before base64. */
const MAX_USER_DATA_BYTES = 32 * 1024;

/** The query contains the user data, which is a secret. */
export function runQuery(request: InstanceRequest, region: string, agent: AgentDownload): ApiQuery {
  const config = readAlibabaConfig(request);
  throwIfTooLong(request);
  return {
    RegionId: region,
    // However often it is sent, ECS creates one instance for it.
    ClientToken: request.tags.machineUid,
    Amount: '1',
    InstanceChargeType: 'PostPaid',
    InstanceName: nameOf(request.machine),
    InstanceType: config.instanceType,
    ImageId: config.imageId,
    VSwitchId: vSwitchOf(config, request.zone) ?? '',
    ...numbered('SecurityGroupIds', config.securityGroupIds),
    HttpEndpoint: 'enabled',
    HttpTokens: config.metadataTokens,
    ...optionalFields(config),
    ...spotFields(config),
    ...diskFields(config),
    ...tagFields({ ...config.tags, ...formatTags(request) }),
    ...userData(request, agent),
  };
}

export function tagFields(tags: Readonly<Record<string, string>>): ApiQuery {
  const entries = Object.entries(tags).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    entries.flatMap(([name, value], index) => [
      [`Tag.${index + 1}.Key`, name],
      [`Tag.${index + 1}.Value`, value],
    ]),
  );
}

function numbered(name: string, values: readonly string[]): ApiQuery {
  return Object.fromEntries(values.map((value, index) => [`${name}.${index + 1}`, value]));
}

function optionalFields({ ramRole, keyPair, resourceGroupId }: AlibabaConfig): ApiQuery {
  return {
    ...(ramRole === undefined ? {} : { RamRoleName: ramRole }),
    ...(keyPair === undefined ? {} : { KeyPairName: keyPair }),
    ...(resourceGroupId === undefined ? {} : { ResourceGroupId: resourceGroupId }),
  };
}

function spotFields({ spot }: AlibabaConfig): ApiQuery {
  if (!spot) return {};
  const { maxPricePerHour } = spot;
  if (maxPricePerHour === undefined) return { SpotStrategy: 'SpotAsPriceGo' };
  return { SpotStrategy: 'SpotWithPriceLimit', SpotPriceLimit: String(maxPricePerHour) };
}

function diskFields({ systemDisk }: AlibabaConfig): ApiQuery {
  if (!systemDisk) return {};
  const { category, sizeGiB, performanceLevel } = systemDisk;
  return {
    'SystemDisk.Category': category,
    'SystemDisk.Size': String(sizeGiB),
    ...(performanceLevel === undefined ? {} : { 'SystemDisk.PerformanceLevel': performanceLevel }),
  };
}

function userData({ machine, bootstrap }: InstanceRequest, agent: AgentDownload): ApiQuery {
  if (bootstrap === undefined) return {};
  const bytes = Buffer.from(formatUserData({ machine, bootstrap, agent }));
  if (bytes.length > MAX_USER_DATA_BYTES) throw invalid('the user data is larger than ECS accepts, 32 KiB');
  return { UserData: bytes.toString('base64') };
}

/** Names of instances are for people: two to 128 characters, a letter first. */
function nameOf(machine: string): string {
  return (/^[a-z]./.test(machine) ? machine : `node-${machine}`).slice(0, 128);
}

function throwIfTooLong({ machine, tags: { set = '' } }: InstanceRequest): void {
  const [long] = [machine, set].filter((name) => name.length > MAX_TAG_LENGTH);
  if (long === undefined) return;
  throw invalid(`a tag of ECS has at most ${MAX_TAG_LENGTH} characters, use a shorter name than ${long}`);
}

function invalid(message: string): ProviderError {
  return new ProviderError('Terminal', message, { reason: 'InvalidConfig' });
}
