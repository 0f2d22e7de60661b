/** Looks virtual machines up: one by its name, or all of the resource group by their tags. */
import { byCode } from '../../kube/objects/digest.ts';
import { tagsMissingError } from '../cloud/own-instances.ts';
import { matchesFilter } from '../cloud/tags.ts';
import { type Instance, type InstanceFilter, isProviderError } from '../contract.ts';
import { createAddressReader } from './addresses.ts';
import type { ArmApi } from './api/client.ts';
import { listPages } from './api/pages.ts';
import { type AzureVm, interfaceIdOf, readAzureInstance, readOwner, readVm } from './instance.ts';
import { type AzurePlace, formatAzureId, groupPath, parseAzureId, vmNameOf, vmPath } from './place.ts';

export interface FoundVm {
  readonly instance: Instance;
  readonly vm: AzureVm;
}

export interface AzureLookup {
  /** Returns the virtual machine; undefined: not found. Throws for one that is not ours. */
  byId(id: string, signal: AbortSignal): Promise<FoundVm | undefined>;
  byFilter(filter: InstanceFilter, signal: AbortSignal): Promise<readonly Instance[]>;
}

/** The first version with the header If-None-Match is 2024-03-01. */
export const COMPUTE_API = { 'api-version': '2024-07-01' } as const;
export function createAzureLookup(api: ArmApi, place: AzurePlace): AzureLookup {
  const addressReader = createAddressReader(api);

  async function readByName(name: string, signal: AbortSignal): Promise<FoundVm | undefined> {
    const vm = await getVm(api, vmPath(place, name), signal);
    if (!vm) return undefined;
    const interfaceId = readOwner(vm) ? interfaceIdOf(vm) : undefined;
    const addresses = interfaceId === undefined ? [] : await addressReader.of(interfaceId, signal);
    const instance = readAzureInstance(vm, addresses, place);
    if (instance) return { instance, vm };
    throw tagsMissingError(
      formatAzureId(place, name),
      'it is not ours, or a person changed its tags kubenode-…',
    );
  }

  return {
    async byId(id, signal) {
      const name = parseAzureId(id, place);
      signal.throwIfAborted();
      return await readByName(name, signal);
    },
    async byFilter(filter, signal) {
      const { machineUid } = filter;
      const found =
        machineUid === undefined
          ? await listInstances(api, place, signal)
          : [await readByName(vmNameOf(machineUid), signal)].flatMap((each) => each?.instance ?? []);
      return found.filter((each) => matchesFilter(each, filter)).toSorted((a, b) => byCode(a.id, b.id));
    },
  };
}

async function getVm(api: ArmApi, path: string, signal: AbortSignal): Promise<AzureVm | undefined> {
  try {
    const query = { ...COMPUTE_API, $expand: 'instanceView' };
    return readVm((await api.send({ method: 'GET', path, query }, signal)).json);
  } catch (error) {
    if (isProviderError(error, 'NotFound')) return undefined;
    throw error;
  }
}

/**
 * Returns the instances of the resource group that are ours. Azure lists them without power and addresses, and counts requests: one for each
 * instance would be more than all others together.
 */
async function listInstances(
  api: ArmApi,
  place: AzurePlace,
  signal: AbortSignal,
): Promise<readonly Instance[]> {
  const path = `${groupPath(place)}/providers/Microsoft.Compute/virtualMachines`;
  const listed = (await listPages(api, { path, query: COMPUTE_API }, signal)).map(readVm);
  const instances = listed.flatMap((each) => readAzureInstance(each, [], place) ?? []);
  return [...new Map(instances.map((each) => [each.id, each])).values()];
}
