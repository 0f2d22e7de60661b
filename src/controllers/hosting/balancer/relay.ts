/** Relays each connection of a client to an API server as it is: what is in it stays encrypted between both. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { LOOPBACK } from '../../../local/processes/commands.ts';
import { type Backend, backendsInOrder } from './backends.ts';

const CONNECT_MS = 2000;
/** A client or a server that disappeared must not keep a connection open. */
const KEEP_ALIVE_MS = 30_000;

/** An API server that ended a connection reads nothing of it any more, and the rest of its answer is on its way. */
const LINGER_MS = 5000;

export interface RelayLimits {
  /** How many connections it has at most. Undefined: as many as there are files. */
  readonly maxConnections?: number;
  /** How long a client may keep a connection without a byte after the API server has ended it. */
  readonly lingerMs?: number;
}

export function createRelay(backends: readonly Backend[], limits: RelayLimits = {}): Server {
  const { maxConnections, lingerMs = LINGER_MS } = limits;
  const options = {
    allowHalfOpen: true,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
  };
  const server = createServer(options, (client) => {
    client.on('error', () => client.destroy());
    void relay(client, backends, lingerMs);
  });
  if (maxConnections !== undefined) server.maxConnections = maxConnections;
  return server;
}

async function relay(client: Socket, backends: readonly Backend[], lingerMs: number): Promise<void> {
  for (const backend of backendsInOrder(backends)) {
    const server = await open(backend);
    if (!server) continue;
    if (client.destroyed) server.destroy();
    else join(client, server, lingerMs);
    return;
  }
  client.destroy();
}

/** Resolves to undefined when the backend does not accept the connection. */
function open(backend: Backend): Promise<Socket | undefined> {
  backend.open += 1;
  return new Promise((resolve) => {
    const server = connect({ host: LOOPBACK, port: backend.port, allowHalfOpen: true, noDelay: true });
    const timer = setTimeout(() => server.destroy(), CONNECT_MS);
    server.on('error', () => server.destroy());
    server.once('close', () => {
      clearTimeout(timer);
      backend.open -= 1;
      resolve(undefined);
    });
    server.once('connect', () => {
      clearTimeout(timer);
      backend.given += 1;
      server.setKeepAlive(true, KEEP_ALIVE_MS);
      resolve(server);
    });
  });
}

/** The end of one direction leaves the other open, but not for ever when the API server has ended it; the end of one connection ends the other. */
function join(client: Socket, server: Socket, lingerMs: number): void {
  client.pipe(server);
  server.pipe(client);
  server.once('end', () => client.setTimeout(lingerMs, () => client.destroy()));
  client.once('close', () => server.destroy());
  server.once('close', () => client.destroy());
}
