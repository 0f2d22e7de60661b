/** By which addresses a server on this machine is reached. */
import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { LOOPBACK } from './commands.ts';

const ANY = new Set(['0.0.0.0', '::']);
const LOOPBACKS = new Set([LOOPBACK, '::1']);

export type Interfaces = ReturnType<typeof networkInterfaces>;

/** Of this machine, as others see it: no loopback, no link-local. */
export function outsideAddresses(interfaces: Interfaces = networkInterfaces()): readonly string[] {
  const all = Object.values(interfaces).flatMap((addresses) => addresses ?? []);
  const outside = all.filter(({ internal, scopeid }) => !internal && (scopeid ?? 0) === 0);
  // IPv4 first: Services here have IPv4 addresses, and the API server wants its own to be of the same family.
  const [v4, v6] = ['IPv4', 'IPv6'].map((family) => outside.filter((address) => address.family === family));
  return [...(v4 ?? []), ...(v6 ?? [])].map(({ address }) => address);
}

/** Those that a server listening there answers by, for its certificate. */
export function answeringAddresses(bindAddress: string, outside = outsideAddresses()): readonly string[] {
  if (LOOPBACKS.has(bindAddress)) return [];
  return ANY.has(bindAddress) ? outside : [bindAddress];
}

/** Undefined when nobody outside can reach it. */
export function advertisedAddress(bindAddress: string, outside = outsideAddresses()): string | undefined {
  return answeringAddresses(bindAddress, outside).find((address) => !isIPv6(address));
}

/** How we ourselves reach it. */
export function ownUrl(bindAddress: string, port: number): string {
  const address = ANY.has(bindAddress) ? LOOPBACK : bindAddress;
  return `https://${isIPv6(address) ? `[${address}]` : address}:${port}`;
}
