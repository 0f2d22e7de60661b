/** A bridge between nodes and host, with addresses of the range that is reserved for tests (RFC 2544). */
import { readdirSync } from 'node:fs';
import { networkInterfaces as hostInterfaces } from 'node:os';
import { isStale, nameOf, nextNumber } from './marks.ts';
import { run } from './shell.ts';

export interface Bridge {
  readonly name: string;
  /** Address of the host for the nodes. */
  readonly address: string;
  /** Returns the next free address for a node, with its prefix length. */
  nextAddress(): { readonly address: string; readonly prefix: number };
  remove(): Promise<void>;
}

const PREFIX = 24;

export async function makeBridge(): Promise<Bridge> {
  const name = nameOf(nextNumber());
  await run('ip', ['link', 'add', name, 'type', 'bridge']);
  try {
    const network = freeNetwork();
    await run('ip', ['address', 'add', `${network}.1/${PREFIX}`, 'dev', name]);
    await run('ip', ['link', 'set', name, 'up']);
    let host = 1;
    return {
      name,
      address: `${network}.1`,
      nextAddress: () => ({ address: `${network}.${(host += 1)}`, prefix: PREFIX }),
      remove: () => removeBridge(name),
    };
  } catch (error) {
    await removeBridge(name);
    throw error;
  }
}

export async function removeStaleBridges(): Promise<void> {
  for (const name of readdirSync('/sys/class/net').filter(isStale)) await removeBridge(name);
}

async function removeBridge(name: string): Promise<void> {
  await run('ip', ['link', 'delete', name]);
}

/** 198.18.0.0/15 has 512 networks of 256 addresses. Concurrent runs start their search at different ones. */
function freeNetwork(): string {
  const taken = new Set(
    Object.values(hostInterfaces()).flatMap((addresses = []) =>
      addresses.map(({ address }) => address.split('.').slice(0, 3).join('.')),
    ),
  );
  const all = Array.from({ length: 512 }, (_, index) => (index + process.pid) % 512);
  const networks = all.map((index) => `198.${18 + Math.floor(index / 256)}.${index % 256}`);
  const free = networks.find((network) => !taken.has(network));
  if (!free) throw new Error('all networks of 198.18.0.0/15 are in use on this machine');
  return free;
}
