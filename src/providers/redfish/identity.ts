/** Decides whether a system of a BMC is the host that it is expected to be. Pure. */
import { ProviderError } from '../contract.ts';

/** Throws unless the UUID of the system is the expected one: the power of another host must neither be switched nor be believed. */
export function requireSameSystem(expected: string, found: string | undefined): void {
  if (found !== undefined && isSameUuid(expected, found)) return;
  const got = found === undefined ? 'none' : found.slice(0, 64);
  const message = `the system of the BMC is another host: expected UUID ${expected}, got ${got}. Check bmc.address and bmc.system, or set bmc.systemUUID`;
  throw new ProviderError('Terminal', message, { reason: 'BMCOfAnotherHost' });
}

/** SMBIOS stores the first three fields in the byte order of the CPU, and firmware differs in whether it reports them swapped. */
export function isSameUuid(a: string, b: string): boolean {
  const [one, other] = [normalize(a), normalize(b)];
  return HEX.test(one) && (one === other || swapped(one) === other);
}

const HEX = /^[0-9a-f]{32}$/;

function normalize(uuid: string): string {
  return uuid.trim().toLowerCase().replaceAll('-', '');
}

function swapped(hex: string): string {
  const bytes = hex.match(/../g) ?? [];
  const fields = [bytes.slice(0, 4), bytes.slice(4, 6), bytes.slice(6, 8)];
  return [...fields.flatMap((field) => field.toReversed()), ...bytes.slice(8)].join('');
}
