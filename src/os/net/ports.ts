/** TCP ports of this machine. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { OsError, type OsErrorCode, systemCode } from '../errors.ts';

/** Every address of this machine, of IPv6 as well where it has any: Node.js selects it where no address is named. */
export const ALL_ADDRESSES = 'all addresses';

/** Returns what `listen` gets for an address. */
export function listenHost(address: string): { readonly host?: string } {
  return address === ALL_ADDRESSES ? {} : { host: address };
}

/**
 * A port that is free now, and that no outgoing connection takes while its server restarts. Another program may take it before it is
 * used, so a caller that starts a server on it must handle a failed start.
 */
export async function findFreePort(
  address = '127.0.0.1',
  taken: ReadonlySet<number> = new Set(),
): Promise<number> {
  return await findNextPort(taken, address, randomInt(FIRST_PORT, LAST_PORT - 1000));
}

export async function isPortFree(port: number, address = '127.0.0.1'): Promise<boolean> {
  return (await listenOnce(port, address)) !== undefined;
}

/** Below the range that Linux uses for outgoing connections, so that a port stays free across a restart. */
const FIRST_PORT = 16_443;
const LAST_PORT = 32_767;
const HIGHEST_PORT = 65_535;

/** The first port from `from` on that is free now and not in `taken`. */
export async function findNextPort(
  taken: ReadonlySet<number>,
  address: string,
  from = FIRST_PORT,
): Promise<number> {
  const last = from > LAST_PORT ? HIGHEST_PORT : LAST_PORT;
  for (let port = from; port <= last; port += 1) {
    if (!taken.has(port) && (await isPortFree(port, address))) return port;
  }
  throw new OsError('PortInUse', `no free port from ${from} to ${last}`, {
    where: address,
    hint: 'stop programs that listen there',
  });
}

/** Binds the port briefly. Undefined when another program listens on it. */
function listenOnce(port: number, address: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => {
      if (systemCode(error) === 'EADDRINUSE') resolve(undefined);
      else reject(listenError(error, port, address));
    });
    server.listen({ port, ...listenHost(address), exclusive: true }, () => {
      const bound = server.address();
      server.close(() => resolve(typeof bound === 'object' && bound ? bound.port : port));
    });
  });
}

/** Why our server does not listen. */
export function serveError(
  what: string,
  { host, port }: { readonly host: string; readonly port: number },
  cause: Error,
): OsError {
  const { code, message, hint } = listenError(cause, port, host);
  return new OsError(code, `cannot serve ${what} on ${host}:${port}: ${message}`, {
    ...(hint === undefined ? {} : { hint }),
    cause,
  });
}

function listenError(cause: Error, port: number, address: string): OsError {
  const { code, message, hint } = LISTEN_ERRORS[systemCode(cause) ?? ''] ?? {
    code: 'PortInUse',
    message: `cannot listen there (${systemCode(cause) ?? cause.message})`,
    hint: 'choose another port or address',
  };
  return new OsError(code, message, { where: `${address}:${port}`, hint, cause });
}

const LISTEN_ERRORS: Readonly<Record<string, { code: OsErrorCode; message: string; hint: string }>> = {
  EADDRNOTAVAIL: {
    code: 'PortInUse',
    message: 'this machine does not have that address',
    hint: 'choose one that `ip address` shows, or 0.0.0.0 for all of them',
  },
  EADDRINUSE: {
    code: 'PortInUse',
    message: 'the port is in use',
    hint: 'choose another one, or 0 for any free port',
  },
  EACCES: {
    code: 'NoAccess',
    message: 'this user may not listen on that port',
    hint: 'choose a port from 1024 on',
  },
};
