/** Forms the request that creates a virtual machine, with its network interface and its disk. Pure. */
import { optional } from '../../kube/objects/optional.ts';
import { formatTags } from '../cloud/tags.ts';
import { type AgentDownload, formatUserData } from '../cloud/user-data.ts';
import { type InstanceRequest, ProviderError } from '../contract.ts';
import { type AzureConfig, parseZone, readAzureConfig } from './config.ts';
import type { AzurePlace } from './place.ts';

/** The limit of Azure, after base64. */
const MAX_CUSTOM_DATA = 87_380;
/** The version of the network API that creates the interface. */
const NETWORK_API = '2022-11-01';

interface VmParts {
  readonly place: AzurePlace;
  /** The name of the virtual machine. */
  readonly name: string;
  readonly agent: AgentDownload;
}

/** The body contains the user data, which is a secret. */
export function vmBody(request: InstanceRequest, { place, name, agent }: VmParts): object {
  const config = readAzureConfig(request);
  const tags = { ...config.tags, ...formatTags(request) };
  return {
    location: place.location,
    tags,
    ...optional('zones', zonesOf(request, place)),
    ...optional('identity', identityOf(config)),
    properties: {
      hardwareProfile: { vmSize: config.vmSize },
      storageProfile: { imageReference: config.image, osDisk: diskOf(config) },
      osProfile: osProfile(request, config, { name, agent }),
      networkProfile: {
        networkApiVersion: NETWORK_API,
        networkInterfaceConfigurations: [interfaceOf(config, name)],
      },
      ...spotFields(config),
      ...(config.trustedLaunch === true ? { securityProfile: TRUSTED_LAUNCH } : {}),
    },
  };
}

const TRUSTED_LAUNCH = {
  securityType: 'TrustedLaunch',
  uefiSettings: { secureBootEnabled: true, vTpmEnabled: true },
};

function zonesOf({ zone }: InstanceRequest, { location }: AzurePlace): readonly string[] | undefined {
  const parsed = zone === undefined ? undefined : parseZone(zone);
  if (!parsed) return undefined;
  if (parsed.region === location) return [parsed.number];
  const message = `spec.zone: this process works in region ${location}, not in ${parsed.region}`;
  throw new ProviderError('Terminal', message, { reason: 'OtherRegion' });
}

function identityOf({ identityIds }: AzureConfig): object | undefined {
  if (!identityIds) return undefined;
  return {
    type: 'UserAssigned',
    userAssignedIdentities: Object.fromEntries(identityIds.map((id) => [id, {}])),
  };
}

/** Leaves the name of the disk to Azure: one that is being deleted never blocks the next. */
function diskOf({ osDisk }: AzureConfig): object {
  const { type = 'Premium_LRS', sizeGiB, encryptionSetId } = osDisk ?? {};
  return {
    createOption: 'FromImage',
    deleteOption: 'Delete',
    ...optional('diskSizeGB', sizeGiB),
    managedDisk: {
      storageAccountType: type,
      ...(encryptionSetId === undefined ? {} : { diskEncryptionSet: { id: encryptionSetId } }),
    },
  };
}

/** Created and deleted with the virtual machine: a refused creation leaves no interface that has an address. */
function interfaceOf(config: AzureConfig, name: string): object {
  const { subnetId, networkSecurityGroupId, acceleratedNetworking } = config;
  return {
    name,
    properties: {
      primary: true,
      deleteOption: 'Delete',
      ...optional('enableAcceleratedNetworking', acceleratedNetworking),
      ...(networkSecurityGroupId === undefined
        ? {}
        : { networkSecurityGroup: { id: networkSecurityGroupId } }),
      ipConfigurations: [{ name: 'primary', properties: { primary: true, subnet: { id: subnetId } } }],
    },
  };
}

function osProfile(
  request: InstanceRequest,
  { adminUser, sshPublicKey }: AzureConfig,
  { name, agent }: Pick<VmParts, 'name' | 'agent'>,
): object {
  const path = `/home/${adminUser}/.ssh/authorized_keys`;
  return {
    computerName: computerNameOf(request.machine, name),
    adminUsername: adminUser,
    linuxConfiguration: {
      disablePasswordAuthentication: true,
      ssh: { publicKeys: [{ path, keyData: sshPublicKey }] },
    },
    ...optional('customData', customData(request, agent)),
  };
}

/** The name of the Machine where it can be that of a host. */
function computerNameOf(machine: string, name: string): string {
  return /^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/.test(machine) ? machine : name;
}

/** Returns the user data as custom data, which Azure never returns to readers of the virtual machine. */
function customData({ machine, bootstrap }: InstanceRequest, agent: AgentDownload): string | undefined {
  if (bootstrap === undefined) return undefined;
  const data = Buffer.from(formatUserData({ machine, bootstrap, agent })).toString('base64');
  if (data.length <= MAX_CUSTOM_DATA) return data;
  throw new ProviderError('Terminal', 'the user data is larger than Azure accepts, 64 KiB', {
    reason: 'InvalidConfig',
  });
}

/** An instance that Azure takes back is deleted with its disk, and its set creates another Machine. */
function spotFields({ spot }: AzureConfig): object {
  if (!spot) return {};
  return {
    priority: 'Spot',
    evictionPolicy: 'Delete',
    billingProfile: { maxPrice: spot.maxPricePerHour ?? -1 },
  };
}
