/**
 * Names the place of the virtual machines: one resource group in one region. An id is `azure://` with the resource id, as the cloud provider of
 * Azure writes it to Nodes: the resource group in lower case. Pure.
 */
import type { CloudProviderOptions } from '../cloud/options.ts';
import { invalidIdError } from '../cloud/request.ts';
import { ProviderError } from '../contract.ts';

export interface AzurePlace {
  readonly subscription: string;
  /** In lower case: Azure compares names without case, and an id must be the same text each time. */
  readonly resourceGroup: string;
  readonly location: string;
}

const GROUP = '[-\\w.()]{0,89}[-\\w()]';
const NAME_PREFIX = 'kubenode-';
const UID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const VM_NAME = new RegExp(`^${NAME_PREFIX}${UID}$`);
const ID = new RegExp(
  `^azure:///subscriptions/(?<subscription>${UID})/resourceGroups/(?<group>${GROUP})/providers/Microsoft\\.Compute/virtualMachines/(?<name>${NAME_PREFIX}${UID})$`,
);

/** Reads the place from the environment. Throws for a value that could be part of another request. */
export function readPlace(env: CloudProviderOptions['env']): AzurePlace {
  const read = (name: string, pattern: RegExp, what: string): string => {
    const value = (env[name] ?? '').toLowerCase();
    if (pattern.test(value)) return value;
    const message = `expected ${what} in ${name}, got ${JSON.stringify(value.slice(0, 100))}`;
    throw new ProviderError('Terminal', message, { reason: 'NoPlace' });
  };
  return {
    subscription: read('AZURE_SUBSCRIPTION_ID', new RegExp(`^${UID}$`), 'the id of the subscription'),
    resourceGroup: read(
      'AZURE_RESOURCE_GROUP',
      new RegExp(`^${GROUP}$`),
      'the resource group of the virtual machines',
    ),
    location: read('AZURE_LOCATION', /^[a-z][a-z0-9]{1,49}$/, 'the region, such as westeurope,'),
  };
}

/** Returns the path of the resource group, without a slash at its end. */
export function groupPath({ subscription, resourceGroup }: AzurePlace): string {
  return `/subscriptions/${subscription}/resourceGroups/${resourceGroup}`;
}

export function vmPath(place: AzurePlace, name: string): string {
  return `${groupPath(place)}/providers/Microsoft.Compute/virtualMachines/${name}`;
}

/** Tells whether this provider may have given the name. */
export function isVmName(name: string): boolean {
  return VM_NAME.test(name);
}

/** Returns the name of the virtual machine of a Machine, so that it has at most one at a time. */
export function vmNameOf(machineUid: string): string {
  return `${NAME_PREFIX}${machineUid}`;
}

export function formatAzureId(place: AzurePlace, name: string): string {
  return `azure://${vmPath(place, name)}`;
}

/** Returns the name of the virtual machine. Refuses any id that no process with this place gave. */
export function parseAzureId(id: string, place: AzurePlace): string {
  const { subscription, group, name } = ID.exec(id)?.groups ?? {};
  if (name === undefined) throw invalidIdError('azure', id);
  if (subscription === place.subscription && group === place.resourceGroup) return name;
  const message = `instance ${id} is not in resource group ${place.resourceGroup} of subscription ${place.subscription}: run kubenode controllers with AZURE_RESOURCE_GROUP and AZURE_SUBSCRIPTION_ID of its id`;
  throw new ProviderError('Terminal', message, { reason: 'OtherResourceGroup' });
}
