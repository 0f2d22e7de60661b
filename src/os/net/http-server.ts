/** Starts and ends HTTP servers. */
import type { Server } from 'node:net';
import { listenHost, serveError } from './ports.ts';

export interface ListenAddress {
  /** `ALL_ADDRESSES`: every address of this machine. */
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** Whether other processes of this user may listen on the port, too. */
  readonly isShared?: boolean;
}

/** Resolves to the port. Rejects with what is served, the port and why it is not free. */
export function listenOn(
  server: Server,
  what: string,
  { host, port, isShared = false }: ListenAddress,
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(serveError(what, { host, port }, error)));
    server.listen({ port, ...listenHost(host), reusePort: isShared }, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

/** Ends the server with all of its connections. */
export function closeServer(server: Server & { closeAllConnections(): void }): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Returns the URL of a server on this address. */
export function httpUrl(scheme: 'http' | 'https', { host, port }: ListenAddress): string {
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
