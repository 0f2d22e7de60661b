/**
 * Serves webhooks over HTTP, on a port of its own: it is the only one that their senders have to reach. TLS ends in front of it, at an
 * Ingress or a Gateway.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type ConnectionLimits, limitConnections } from '../../os/net/connection-limits.ts';
import { closeServer, httpUrl, listenOn } from '../../os/net/http-server.ts';
import type { Log } from '../process/log.ts';
import type { HookAnswer, HookIntake, HookResult } from './request.ts';

export interface HookServerOptions {
  readonly intake: HookIntake;
  /** Names the server in the error of a port that is taken. Default: `webhooks`. */
  readonly what?: string;
  /** The largest body that is read. Default: MAX_BODY_BYTES. */
  readonly maxBodyBytes?: number;
  /** 0 selects a free port. */
  readonly port: number;
  readonly host: string;
  readonly log: Log;
  /** Counts a request by its result. */
  readonly count: (result: HookResult) => void;
}

export interface HookServer {
  readonly url: string;
  close(): Promise<void>;
}

/** The largest deliveries of git hosts, pushes with hundreds of commits, are smaller. */
export const MAX_BODY_BYTES = 1_048_576;
/** The bodies that are read at a time, which bounds their memory. */
const MAX_BODIES = 16;
/** Behind an Ingress all requests come from its addresses. */
const CONNECTIONS: ConnectionLimits = { total: 200, perAddress: 150, reserved: 50 };
const HEADERS_MS = 5000;
const REQUEST_MS = 10_000;

export async function startHookServer(options: HookServerOptions): Promise<HookServer> {
  const { port, host, log, what = 'webhooks' } = options;
  const bodies = { reading: 0 };
  const server = createServer({
    maxHeaderSize: 16_384,
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    connectionsCheckingInterval: 1000,
    keepAliveTimeout: 5000,
  });
  const guard = limitConnections(server, CONNECTIONS);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    serve(request, response, { ...options, bodies })
      .then((isKnown) => isKnown && guard.know(request.socket.remoteAddress))
      .catch((error: unknown) => log.debug('answer not sent', { error }));
  });
  const bound = await listenOn(server, what, { host, port });
  // Such as too many open files when a connection is accepted.
  server.on('error', (error) => log.error('webhook server failed to accept', { error }));
  return {
    url: httpUrl('http', { host, port: bound }),
    close: () => closeServer(server),
  };
}

/** More bodies arrive at a time than are read. */
class TooManyBodies extends Error {
  override readonly name = 'TooManyBodies';
}

const TOO_MANY_BODIES: HookAnswer = {
  status: 429,
  text: `too many requests: at most ${MAX_BODIES} at a time`,
  headers: { 'retry-after': '1' },
  result: 'Limited',
};

interface Serving extends HookServerOptions {
  readonly bodies: { reading: number };
}

/** Returns whether the request was accepted, which needs a signature. */
async function serve(request: IncomingMessage, response: ServerResponse, serving: Serving): Promise<boolean> {
  const { method = '', url = '', headers } = request;
  const answer = await serving.intake
    .handle({
      method,
      path: url.split('?')[0] ?? '',
      headers,
      readBody: () => readBody(request, serving),
    })
    .catch((error: unknown): HookAnswer => {
      if (error instanceof TooManyBodies) return TOO_MANY_BODIES;
      serving.log.error('webhook failed', { error });
      return { status: 500, text: 'internal error', result: 'Unavailable' };
    });
  serving.count(answer.result);
  send(request, response, answer);
  return answer.status === 202;
}

async function readBody(
  request: IncomingMessage,
  { bodies, maxBodyBytes = MAX_BODY_BYTES }: Serving,
): Promise<Buffer | undefined> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxBodyBytes) return undefined;
  if (bodies.reading >= MAX_BODIES) throw new TooManyBodies();
  bodies.reading += 1;
  try {
    return await collect(request, maxBodyBytes);
  } catch {
    return undefined;
  } finally {
    bodies.reading -= 1;
  }
}

async function collect(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request) {
    const data = piece as Buffer;
    bytes += data.length;
    if (bytes > maxBytes) return undefined;
    pieces.push(data);
  }
  return Buffer.concat(pieces);
}

/** A connection with an unread body is closed, so that the rest of it is not read. */
function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, text, headers }: HookAnswer,
): void {
  if (response.destroyed) return;
  const line = `${text}\n`;
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(line),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(request.complete ? {} : { connection: 'close' }),
    ...headers,
  });
  response.end(line);
}
