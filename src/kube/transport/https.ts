/** The transport over node:https: pooled keep-alive connections. This file and its imports use no npm package: the agent uses it too. */
import * as http from 'node:http';
import * as https from 'node:https';
import { createSecureContext } from 'node:tls';
import type { Connection, TlsMaterial } from '../auth/credentials.ts';
import {
  CONNECT_TIMEOUT_MS,
  createTransport,
  KEEP_ALIVE_MS,
  MAX_CONNECTIONS,
  type TransportOptions,
  type Wire,
  type WireRequest,
  type WireResponse,
} from './base.ts';
import type { Transport } from './transport.ts';

interface Agents {
  readonly tls: TlsMaterial;
  readonly calls: http.Agent;
  readonly streams: http.Agent;
}

export function createHttpsTransport(connection: Connection, options: TransportOptions = {}): Transport {
  return createTransport(httpsWire(connection.server, options), connection, options);
}

function httpsWire(server: string, options: TransportOptions): Wire {
  const { protocol, hostname, port } = new URL(server);
  const { maxConnections = MAX_CONNECTIONS, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  const secure = protocol === 'https:';
  // URL has IPv6 addresses in brackets, sockets need them without.
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const all = new Set<http.Agent>();
  let agents: Agents | undefined;

  return {
    send: (outgoing, { tls }, kind) => send(outgoing, agentsFor(tls)[kind]),
    close: () => {
      for (const agent of all) agent.destroy();
      return Promise.resolve();
    },
  };

  function send(
    { method, path, headers, body, signal, beforeSend }: WireRequest,
    agent: http.Agent,
  ): Promise<WireResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<WireResponse>();
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const asked = { host, port, method, path, headers: { ...headers, ...length }, agent };
    const request = secure ? https.request(asked) : http.request(asked);
    request.on('error', reject);
    request.on('response', (answer) =>
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: answer }),
    );
    endWith(request, signal);
    const connected = secure ? 'secureConnect' : 'connect';
    limitConnecting(request, connectTimeoutMs, connected);
    onConnected(request, connected, () => {
      try {
        beforeSend?.();
        request.end(body);
      } catch (error) {
        reject(error);
        request.destroy();
      }
    });
    return promise;
  }

  /** New certificates need new connections; requests in flight on the old ones are finished. */
  function agentsFor(tls: TlsMaterial): Agents {
    if (agents?.tls === tls) return agents;
    for (const agent of all) retire(agent);
    const trust = secure ? trustOf(tls) : undefined;
    agents = { tls, calls: open(trust, maxConnections), streams: open(trust, Number.POSITIVE_INFINITY) };
    return agents;
  }

  function open(trust: https.AgentOptions | undefined, maxSockets: number): http.Agent {
    // `timeout` closes an idle socket after this time; on a socket in use it only emits an event.
    const common = { keepAlive: true, timeout: KEEP_ALIVE_MS, maxSockets, scheduling: 'lifo' } as const;
    const agent = trust ? new https.Agent({ ...common, ...trust }) : new http.Agent(common);
    all.add(agent);
    return agent;
  }
}

/**
 * Parses the certificates once for all connections, which takes a third of the CPU time of a connection. An agent that has their texts also
 * compares these for each request, which takes half of its CPU time.
 */
function trustOf({ insecure, servername, ...material }: TlsMaterial): https.AgentOptions {
  const secureContext = createSecureContext(material);
  return {
    secureContext,
    rejectUnauthorized: !insecure,
    ...(servername === undefined ? {} : { servername }),
  };
}

/** `agent.destroy()` would cut off requests in flight. Sockets in use close later, when they are idle. */
function retire(agent: http.Agent): void {
  for (const sockets of Object.values(agent.freeSockets)) {
    for (const socket of sockets ?? []) socket.destroy();
  }
}

/** As the option `signal` of a request, which takes longer: it waits for the end of both streams. */
function endWith(request: http.ClientRequest, signal: AbortSignal): void {
  const end = (): void => void request.destroy(signal.reason instanceof Error ? signal.reason : undefined);
  if (signal.aborted) {
    end();
    return;
  }
  signal.addEventListener('abort', end, { once: true });
  request.once('close', () => signal.removeEventListener('abort', end));
}

type ConnectedEvent = 'secureConnect' | 'connect';

/** The request may wait for a free connection, and then for the handshakes of a new one. */
function onConnected(request: http.ClientRequest, connected: ConnectedEvent, act: () => void): void {
  request.once('socket', (socket) => {
    if (socket.connecting) socket.once(connected, act);
    else act();
  });
}

/** Dropped packets never fail a connect, so it needs a time limit. */
function limitConnecting(request: http.ClientRequest, ms: number, connected: ConnectedEvent): void {
  request.once('socket', (socket) => {
    if (!socket.connecting) return;
    const error = Object.assign(new Error(`no connection within ${ms} ms`), { code: 'ETIMEDOUT' });
    const timer = setTimeout(() => request.destroy(error), ms);
    socket.once(connected, () => clearTimeout(timer));
    socket.once('close', () => clearTimeout(timer));
  });
}
