/** Reads the address of a host as people write it. What a shell or an option parser could take for its own is refused. Pure. */
import { isIP } from 'node:net';
import { SshError } from './errors.ts';

export interface SshTarget {
  readonly address: string;
  readonly port: number;
  readonly user: string;
}

/** The limits of Machine.spec.import. */
const MAX_ADDRESS = 253;
const MAX_USER = 63;
const DNS_NAME = /^(?!-)[A-Za-z0-9-]{1,63}(?<!-)(?:\.(?!-)[A-Za-z0-9-]{1,63}(?<!-))*\.?$/;
const USER = /^[A-Za-z_][A-Za-z0-9_.-]*$/;

/** Returns the target; what the text leaves out is taken from the defaults. Throws InvalidTarget. */
export function parseTarget(text: string, defaults: Pick<SshTarget, 'port' | 'user'>): SshTarget {
  const at = text.lastIndexOf('@');
  const user = at === -1 ? defaults.user : text.slice(0, at);
  const { address, port = defaults.port } = splitPort(text.slice(at + 1));
  const reason = addressReason(address) ?? userReason(user) ?? portReason(port);
  if (reason === undefined) return { address, port: Number(port), user };
  throw new SshError('InvalidTarget', reason, { where: JSON.stringify(text) });
}

function splitPort(text: string): { readonly address: string; readonly port?: string } {
  const bracketed = /^\[(?<address>[^\]]*)\](?::(?<port>.*))?$/.exec(text)?.groups;
  const plain = /^(?<address>[^:]*)(?::(?<port>[^:]*))?$/.exec(text)?.groups;
  const { address = text, port } = bracketed ?? plain ?? {};
  return port === undefined ? { address } : { address, port };
}

/** Explains why a text is not the address of a host; undefined: it is one. */
export function addressReason(address: string): string | undefined {
  if (address === '') return 'the address is empty';
  if (address.length > MAX_ADDRESS) return `the address has more than ${MAX_ADDRESS} characters`;
  if (isIP(address) !== 0 && !address.includes('%')) return undefined;
  return DNS_NAME.test(address) ? undefined : 'expected a host name or an IP address';
}

export function userReason(user: string): string | undefined {
  if (user.length > MAX_USER) return `the user has more than ${MAX_USER} characters`;
  return USER.test(user)
    ? undefined
    : 'expected a user of letters, digits, ".", "-" and "_" that begins with a letter or "_"';
}

export function portReason(port: string | number): string | undefined {
  const value = Number(port);
  const isPort = /^\d{1,5}$/.test(String(port)) && value >= 1 && value <= 65_535;
  return isPort ? undefined : `expected a port from 1 to 65535, got ${JSON.stringify(String(port))}`;
}

export function formatTarget({ user, address, port }: SshTarget): string {
  return `${user}@${isIP(address) === 6 ? `[${address}]` : address}:${port}`;
}

const SSH_PORT = 22;

/** Returns the host as the annotation of a Secret names those that its value may be sent to. */
export function secretHost({ address, port }: Pick<SshTarget, 'address' | 'port'>): string {
  const host = isIP(address) === 6 ? `[${address}]` : address.toLowerCase();
  return port === SSH_PORT ? host : `${host}:${port}`;
}
