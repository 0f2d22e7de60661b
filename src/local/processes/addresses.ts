/** The addresses at which a server on this machine can be reached. */
import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { LOOPBACK } from './commands.ts';

const UNSPECIFIED = new Set(['0.0.0.0', '::']);
const LOOPBACKS = new Set([LOOPBACK, '::1']);

export type NetworkInterfaces = ReturnType<typeof networkInterfaces>;

/** The addresses of this machine for other machines: no loopback, no link-local. */
export function listExternalAddresses(
  interfaces: NetworkInterfaces = networkInterfaces(),
): readonly string[] {
  const all = Object.values(interfaces).flatMap((addresses) => addresses ?? []);
  const external = all.filter(({ internal, scopeid }) => !internal && (scopeid ?? 0) === 0);
  // IPv4 first: Services have IPv4 addresses here, and the API server requires the same family for its own address.
  const [v4, v6] = ['IPv4', 'IPv6'].map((family) => external.filter((address) => address.family === family));
  return [...(v4 ?? []), ...(v6 ?? [])].map(({ address }) => address);
}

/** The addresses in the certificate of a server that listens there, besides loopback. */
export function listServerAddresses(
  bindAddress: string,
  external = listExternalAddresses(),
): readonly string[] {
  if (LOOPBACKS.has(bindAddress)) return [];
  return UNSPECIFIED.has(bindAddress) ? external : [bindAddress];
}

/** The first IPv4 address for other machines; undefined if they cannot reach the server. */
export function findAdvertisedAddress(
  bindAddress: string,
  external = listExternalAddresses(),
): string | undefined {
  return listServerAddresses(bindAddress, external).find((address) => !isIPv6(address));
}

/** Returns the first address of an IPv4 range, which is that of the Service `kubernetes`: 10.96.0.1 for 10.96.0.0/16. */
export function firstAddress(range: string): string {
  const [address = '', length = '32'] = range.split('/');
  const bits = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (32 - Number(length));
  const first = bits - (bits % size) + 1;
  return [24, 16, 8, 0].map((shift) => Math.floor(first / 2 ** shift) % 256).join('.');
}

/** The URL for clients on this machine. */
export function localUrl(bindAddress: string, port: number): string {
  const address = UNSPECIFIED.has(bindAddress) ? LOOPBACK : bindAddress;
  return `https://${isIPv6(address) ? `[${address}]` : address}:${port}`;
}
