/** Reads the addresses of network interfaces. An interface keeps its private address until it is deleted, so each is read once. */
import { listAt, textAt } from '../../kube/objects/json.ts';
import { type Instance, isProviderError } from '../contract.ts';
import type { ArmApi } from './api/client.ts';

export interface AddressReader {
  /** Empty: the interface has no address yet. */
  of(interfaceId: string, signal: AbortSignal): Promise<Instance['addresses']>;
}

const API_VERSION = '2023-11-01';
const ID = /^\/subscriptions\/[^?#\s]+\/providers\/Microsoft\.Network\/networkInterfaces\/[^/?#\s]+$/i;
const MAX_ADDRESSES = 8;
/** More than one process has instances. The oldest is read again then. */
const MAX_KNOWN = 20_000;

export function createAddressReader(api: ArmApi): AddressReader {
  const known = new Map<string, Instance['addresses']>();
  return {
    async of(interfaceId, signal) {
      const before = known.get(interfaceId);
      if (before || !ID.test(interfaceId)) return before ?? [];
      const addresses = await readAddresses(api, interfaceId, signal);
      const [oldest] = known.keys();
      if (known.size >= MAX_KNOWN && oldest !== undefined) known.delete(oldest);
      if (addresses.length > 0) known.set(interfaceId, addresses);
      return addresses;
    },
  };
}

async function readAddresses(api: ArmApi, path: string, signal: AbortSignal): Promise<Instance['addresses']> {
  try {
    const { json } = await api.send({ method: 'GET', path, query: { 'api-version': API_VERSION } }, signal);
    return listAt(json, 'properties', 'ipConfigurations')
      .flatMap((each) => textAt(each, 'properties', 'privateIPAddress') ?? [])
      .filter((address) => address !== '' && address.length <= 253)
      .slice(0, MAX_ADDRESSES)
      .map((address) => ({ type: 'InternalIP', address }));
  } catch (error) {
    // It is made or deleted with its virtual machine.
    if (isProviderError(error, 'NotFound')) return [];
    throw error;
  }
}
