/** TCP ports of this machine. */
import { createServer } from 'node:net';
import { LocalError, type LocalErrorCode, systemCode } from './errors.ts';

/**
 * A port that is free now. Between this answer and its use another program may take it, so whoever starts
 * a server with it looks at the reason when the server ends at once.
 */
export async function findFreePort(address = '127.0.0.1'): Promise<number> {
  const port = await listenOnce(0, address);
  if (port === undefined) throw new Error(`the system gave no port on ${address}`);
  return port;
}

export async function isPortFree(port: number, address = '127.0.0.1'): Promise<boolean> {
  return (await listenOnce(port, address)) !== undefined;
}

/** Below the range from which the system takes ports for outgoing connections, so that a port stays ours over a restart. */
const FIRST_PORT = 16_443;
const LAST_PORT = 32_767;
const HIGHEST_PORT = 65_535;

/** The next port from there on that is free now and not yet given to somebody else. */
export async function findNextPort(
  taken: ReadonlySet<number>,
  address: string,
  from = FIRST_PORT,
): Promise<number> {
  const last = from > LAST_PORT ? HIGHEST_PORT : LAST_PORT;
  for (let port = from; port <= last; port += 1) {
    if (!taken.has(port) && (await isPortFree(port, address))) return port;
  }
  throw new LocalError('PortInUse', `no free port from ${from} to ${last}`, {
    where: address,
    hint: 'end programs that listen there',
  });
}

/** Listens for a moment. Undefined when somebody else does already. */
function listenOnce(port: number, address: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => {
      if (systemCode(error) === 'EADDRINUSE') resolve(undefined);
      else reject(listenError(error, port, address));
    });
    server.listen({ port, host: address, exclusive: true }, () => {
      const bound = server.address();
      server.close(() => resolve(typeof bound === 'object' && bound ? bound.port : port));
    });
  });
}

function listenError(cause: Error, port: number, address: string): LocalError {
  const { code, message, hint } = LISTEN_ERRORS[systemCode(cause) ?? ''] ?? {
    code: 'PortInUse',
    message: `nobody can listen there (${systemCode(cause) ?? cause.message})`,
    hint: 'choose another --port or --bind-address',
  };
  return new LocalError(code, message, { where: `${address}:${port}`, hint, cause });
}

const LISTEN_ERRORS: Readonly<Record<string, { code: LocalErrorCode; message: string; hint: string }>> = {
  EADDRNOTAVAIL: {
    code: 'PortInUse',
    message: 'that address is none of this machine',
    hint: 'choose one that `ip address` shows, or 0.0.0.0 for all of them, with --bind-address',
  },
  EACCES: {
    code: 'NoAccess',
    message: 'this user may not listen on that port',
    hint: 'choose a --port from 1024 on',
  },
};
