/** Finds where other machines are to reach a control plane of processes, by its spec. Pure. */
import { isIP } from 'node:net';
import type { OutsideAddress } from '../../drivers/driver.ts';
import { urlOf } from '../../drivers/workload/ports.ts';
import type { Hosted } from '../input.ts';

/** A name of DNS as a certificate has it. */
const DNS_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/;
const MAX_NAME = 253;
const LOCAL_NAME = /(^|\.)localhost$/;

/** Addresses that each machine has for itself, or that no single machine has: unspecified, loopback, link-local, multicast and reserved. */
const UNREACHABLE_IPV4 = /^(0|127|169\.254|22[4-9]|2[3-5]\d)\./;
/** The same in the form of URLs. The first one is `::/96`. */
const UNREACHABLE_IPV6 = /^(::([0-9a-f]{1,4}(:[0-9a-f]{1,4})?)?$|fe[89ab][0-9a-f]:|ff[0-9a-f]{2}:)/;
const MAPPED_IPV4 = /^::ffff:(?<high>[0-9a-f]{1,4}):(?<low>[0-9a-f]{1,4})$/;

/** Returns why the host of the spec is refused. The driver of pods takes any. */
export function refusedHost({ driver, exposure: { host } }: Hosted): string | undefined {
  return driver === 'process' && host !== undefined ? hostReason(host) : undefined;
}

/** Undefined: nowhere, or the host cannot be part of a certificate. */
export function outsideOf(hosted: Hosted): OutsideAddress | undefined {
  const { host, port } = hosted.exposure;
  if (hosted.driver !== 'process' || host === undefined || refusedHost(hosted)) return undefined;
  return { host: host.toLowerCase(), port };
}

/** Returns why the host cannot be that of a control plane. Clients compare names without their case. */
export function hostReason(host: string): string | undefined {
  if (host.includes('%')) return 'an address with a zone is of use on one machine only: use another one';
  const name = host.toLowerCase();
  if (isUnreachable(name)) {
    return 'clients cannot connect to it from other machines: use an address that leads to the machine';
  }
  if (isIP(host) > 0 || isServerName(name)) return undefined;
  const example = 'such as ci.example.com, 192.0.2.10 or 2001:db8::10';
  return `it is neither a DNS name nor an address: use one ${example}, without port and brackets`;
}

function isUnreachable(name: string): boolean {
  const version = isIP(name);
  if (version === 6) return isUnreachableIPv6(URL.parse(`https://[${name}]`)?.hostname.slice(1, -1) ?? '');
  return (version === 4 ? UNREACHABLE_IPV4 : LOCAL_NAME).test(name);
}

/** Clients of an address of IPv6 that contains one of IPv4 connect to that one. */
function isUnreachableIPv6(address: string): boolean {
  const { high, low } = MAPPED_IPV4.exec(address)?.groups ?? {};
  if (high === undefined || low === undefined) return UNREACHABLE_IPV6.test(address);
  const bytes = [high, low].flatMap((hex) => [
    Math.floor(Number(`0x${hex}`) / 256),
    Number(`0x${hex}`) % 256,
  ]);
  return UNREACHABLE_IPV4.test(bytes.join('.'));
}

/** Clients read `1.2.3` as an address, and refuse `192.0.2.300`: both are names of DNS by their letters only. */
function isServerName(name: string): boolean {
  const isName = DNS_NAME.test(name) && name.length <= MAX_NAME;
  return isName && URL.parse(`https://${name}`)?.hostname === name;
}

export function outsideText(outside: OutsideAddress | undefined): string {
  return outside ? urlOf(outside.host, outside.port) : 'loopback only';
}
