/** Finds where other machines are to reach a control plane of processes, by its spec. Pure. */
import { BlockList, isIP } from 'node:net';
import type { OutsideAddress } from '../../drivers/driver.ts';
import { urlOf } from '../../drivers/workload/ports.ts';
import type { Hosted } from '../input.ts';

/** A name of DNS as a certificate has it. */
const DNS_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/;
const MAX_NAME = 253;
const LOCAL_NAME = /(^|\.)localhost$/;

/** Each machine has them for itself, or no single machine has them. Those of IPv4 count for addresses of IPv6 that contain one, too. */
const UNREACHABLE = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 3],
] as const) {
  UNREACHABLE.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::', 96],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  UNREACHABLE.addSubnet(network, prefix, 'ipv6');
}

/** Undefined: nowhere, or the host cannot be part of a certificate. */
export function outsideOf({ driver, exposure }: Hosted): OutsideAddress | undefined {
  const { host, port } = exposure;
  if (driver !== 'process' || host === undefined || hostReason(host) !== undefined) return undefined;
  return { host: host.toLowerCase(), port };
}

/** Returns why the host cannot be that of a control plane. Clients compare names without their case. */
export function hostReason(host: string): string | undefined {
  if (host.includes('%')) return 'an address with a zone is of use on one machine only: use another one';
  const name = host.toLowerCase();
  const version = isIP(host);
  if (isUnreachable(name, version)) {
    return 'clients cannot connect to it from other machines: use an address that leads to the machine';
  }
  if (version > 0 || isServerName(name)) return undefined;
  const example = 'such as ci.example.com, 192.0.2.10 or 2001:db8::10';
  return `it is neither a DNS name nor an address: use one ${example}, without port and brackets`;
}

function isUnreachable(name: string, version: number): boolean {
  if (version === 0) return LOCAL_NAME.test(name);
  return UNREACHABLE.check(name, version === 4 ? 'ipv4' : 'ipv6');
}

/** Clients read `1.2.3` as an address, and refuse `192.0.2.300`: both are names of DNS by their letters only. */
function isServerName(name: string): boolean {
  const isName = DNS_NAME.test(name) && name.length <= MAX_NAME;
  return isName && URL.parse(`https://${name}`)?.hostname === name;
}

export function outsideText(outside: OutsideAddress | undefined): string {
  return outside ? urlOf(outside.host, outside.port) : 'loopback only';
}
