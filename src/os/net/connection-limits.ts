/**
 * Limits the connections of a server, so that clients which open many and send nothing take no place from the others: each address
 * has a share, some places are kept for addresses that were served before, and the oldest connection without a request makes place.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIPv6, type Server, type Socket } from 'node:net';

export interface ConnectionLimits {
  readonly total: number;
  readonly perAddress: number;
  /** The number of connections of `total` that are reserved for known addresses: those that were served before. */
  readonly reserved: number;
}

export interface OpenConnection {
  readonly address: string;
  /** Whether it waits for an answer, or receives one. */
  readonly isServed: boolean;
}

export type Admission<C> = 'admit' | 'refuse' | { readonly replace: C };

/** Decides whether a new connection gets a place. `open` is oldest first. Pure. */
export function admitConnection<C extends OpenConnection>(
  { address, isKnown }: { readonly address: string; readonly isKnown: boolean },
  open: readonly C[],
  { total, perAddress, reserved }: ConnectionLimits,
): Admission<C> {
  const own = open.filter((each) => each.address === address);
  if (own.length >= perAddress) return replaceOldest(own);
  return open.length >= (isKnown ? total : total - reserved) ? replaceOldest(open) : 'admit';
}

function replaceOldest<C extends OpenConnection>(open: readonly C[]): Admission<C> {
  const idle = open.find(({ isServed }) => !isServed);
  return idle ? { replace: idle } : 'refuse';
}

/**
 * Returns the address that the limits count by. A network of IPv6 addresses belongs to one client: it has as many addresses as it likes.
 */
export function clientAddress(remote: string | undefined): string {
  if (remote === undefined || !isIPv6(remote) || remote.startsWith('::')) return remote ?? 'unknown';
  return groupsOf(remote).slice(0, 4).join(':');
}

/** Returns all eight groups: `::` stands for as many zeros as are missing. */
function groupsOf(address: string): readonly string[] {
  const [before = [], after] = address.split('::').map((part) => part.split(':').filter(Boolean));
  if (!after) return before;
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after];
}

export interface ConnectionGuard {
  /** Records that this address was served: it gets a reserved place the next time. */
  know(remote: string | undefined): void;
}

/** The maximum number of known addresses: the least recently served are forgotten. */
const MAX_KNOWN = 1000;

interface Tracked extends OpenConnection {
  readonly socket: Socket;
  isServed: boolean;
}

/** Limits the connections of an HTTP server, with or without TLS. */
export function limitConnections(server: Server, limits: ConnectionLimits): ConnectionGuard {
  const open = new Set<Tracked>();
  const known = new Set<string>();

  server.on('connection', (socket: Socket) => {
    const address = clientAddress(socket.remoteAddress);
    const admission = admitConnection({ address, isKnown: known.has(address) }, [...open], limits);
    if (admission === 'refuse') {
      socket.destroy();
      return;
    }
    if (admission !== 'admit') close(admission.replace);
    const tracked: Tracked = { address, socket, isServed: false };
    open.add(tracked);
    socket.once('close', () => open.delete(tracked));
  });

  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const tracked = [...open].find((each) => isSame(each.socket, socket));
    if (!tracked) return;
    tracked.isServed = true;
    response.once('close', () => {
      tracked.isServed = false;
    });
  });

  return {
    know(remote) {
      const address = clientAddress(remote);
      known.delete(address);
      known.add(address);
      const [oldest] = known;
      if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
    },
  };

  function close(tracked: Tracked): void {
    open.delete(tracked);
    tracked.socket.destroy();
  }
}

/** Tells whether both sockets have one connection: the socket of a request over TLS is another object than that of its connection. */
function isSame(one: Socket, other: Socket): boolean {
  return one === other || (one.remotePort === other.remotePort && one.remoteAddress === other.remoteAddress);
}
