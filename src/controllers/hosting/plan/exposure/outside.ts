/** Finds where other machines are to reach a control plane of processes, by its spec. Pure. */
import { isIP } from 'node:net';
import type { OutsideAddress } from '../../drivers/driver.ts';
import { urlOf } from '../../drivers/workload/ports.ts';
import type { Hosted } from '../input.ts';

/** A name of DNS as a certificate has it. */
const DNS_NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
/** The addresses on which a server listens, and at which no client reaches it. */
const UNSPECIFIED: readonly string[] = ['0.0.0.0', '::'];

/** Undefined: nowhere, or the host cannot be part of a certificate. */
export function outsideOf({ driver, exposure }: Hosted): OutsideAddress | undefined {
  const { host, port } = exposure;
  if (driver !== 'process' || host === undefined || hostReason(host) !== undefined) return undefined;
  return { host: host.toLowerCase(), port };
}

/** Returns why the host cannot be that of a control plane. Clients compare names without their case. */
export function hostReason(host: string): string | undefined {
  if (UNSPECIFIED.includes(host)) return 'clients cannot connect to it: use an address of the machine';
  if (host.includes('%')) return 'an address with a zone is of use on one machine only: use another one';
  if (isIP(host) > 0 || DNS_NAME.test(host.toLowerCase())) return undefined;
  const example = 'such as ci.example.com, 192.0.2.10 or 2001:db8::10';
  return `it is neither a DNS name nor an address: use one ${example}, without port and brackets`;
}

export function outsideText(outside: OutsideAddress | undefined): string {
  return outside ? urlOf(outside.host, outside.port) : 'loopback only';
}
