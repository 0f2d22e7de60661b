/** One address of the proxy: an HTTPS server that represents one cluster. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Principal } from '../../../src/local/pki/authority.ts';
import type { CertificatePair } from '../../../src/local/pki/certificate.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { parseCall } from './call.ts';
import { type Carried, createProxiedRequest, UpstreamError } from './exchange.ts';
import { hashOf, type OpenExchange } from './log.ts';
import type { ProxiedRequest } from './proxied-request.ts';
import type { Taken } from './rules.ts';
import { collect, type Upstream } from './upstream.ts';

/** What a listener forwards to: the server, the user and the cluster identity. Two listeners can exchange theirs. */
export interface Face {
  readonly upstream: Upstream;
  /** The user of all requests. Undefined: the one of the client's certificate. */
  readonly as: Principal | undefined;
  /** UID of kube-system. Undefined: the real one. */
  readonly uid: string | undefined;
}

export interface ListenerParts {
  readonly name: string;
  readonly certificate: CertificatePair;
  face: Face;
  open(entry: Omit<OpenExchange, 'number'>): OpenExchange;
  take(entry: OpenExchange): Taken;
  /** A mistake of the test or of the proxy, reported by the proxy itself. */
  problem(error: unknown): void;
  ending(): AbortSignal;
}

export interface Listening {
  readonly port: number;
  /** Closes every open connection, as when an address moves to another machine. */
  cutAll(): void;
  close(): Promise<void>;
}

const clock = createSystemClock();
const NEVER = new AbortController().signal;

export async function listen(parts: ListenerParts): Promise<Listening> {
  const rawSockets = new Map<string, Socket>();
  const { certPem: cert, keyPem: key } = parts.certificate;
  // Requests client certificates but does not verify them: the API server does.
  const server = createServer(
    { cert, key, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      void handle(request, response);
    },
  );
  // Connections stay open while the client wants: a proxy that closes idle ones would add faults of its own.
  Object.assign(server, { keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 });
  server.on('connection', (socket: Socket) => {
    const address = peerOf(socket);
    rawSockets.set(address, socket);
    socket.once('close', () => rawSockets.delete(address));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const cutAll = (): void => {
    for (const socket of rawSockets.values()) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cutAll,
    close: async () => {
      const closed = new Promise((resolve) => {
        server.close(resolve);
      });
      cutAll();
      await closed;
    },
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { face } = parts;
    const body = await collect(request).catch(() => undefined);
    if (!body) return; // the client disconnected before it sent a request
    const socket = request.socket as TLSSocket;
    const principal = face.as ?? face.upstream.principalOf(socket);
    const entry = parts.open(describe(request, body, principal));
    response.once('close', () => {
      entry.endedAt = clock.now();
    });
    const taken = parts.take(entry);
    if (taken.fault) entry.fault = taken.fault.name;
    const carried: Carried = {
      request,
      response,
      rawSocket: rawSockets.get(peerOf(socket)),
      body,
      call: entry,
      entry,
      upstream: face.upstream,
      principal,
      swap: await swapFor(face, entry),
      // A reset ends requests that a fault holds. Requests without a fault continue.
      ending: taken.fault ? parts.ending() : NEVER,
    };
    await carry(carried, taken);
  }

  async function carry(carried: Carried, taken: Taken): Promise<void> {
    const { entry, response, ending } = carried;
    const proxied = createProxiedRequest(carried);
    try {
      await go(taken, proxied);
      if (ending.aborted && !response.writableEnded) proxied.cut('close');
    } catch (error) {
      if (response.closed) return; // the client has disconnected
      proxied.cut('close');
      if (error instanceof UpstreamError) entry.fault ??= 'no upstream';
      else if (!ending.aborted) parts.problem(error);
    }
  }

  function describe(
    request: IncomingMessage,
    body: Buffer,
    principal: Principal | undefined,
  ): Omit<OpenExchange, 'number'> {
    const { method = 'GET', url: target = '/', headers } = request;
    const call = parseCall({ method, target, contentType: headers['content-type'], body });
    return {
      ...call,
      at: clock.now(),
      listener: parts.name,
      user: principal?.user,
      userAgent: headers['user-agent'],
      bodyHash: hashOf(body),
      reached: false,
      serverStatus: undefined,
      status: undefined,
      fault: undefined,
      endedAt: undefined,
    };
  }
}

async function go({ fault, observers }: Taken, proxied: ProxiedRequest): Promise<void> {
  if (fault) return await fault.act(proxied);
  if (observers.length === 0) return await proxied.forward();
  const answer = await proxied.ask();
  for (const { observe } of observers) observe?.(proxied.call, answer);
  return proxied.reply(answer);
}

async function swapFor({ uid, upstream }: Face, { resource }: OpenExchange): Promise<Carried['swap']> {
  return uid !== undefined && resource === 'namespaces' ? { from: await upstream.uid(), to: uid } : undefined;
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
