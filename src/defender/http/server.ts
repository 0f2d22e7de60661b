/** Serves the HTTP API over TLS, with limits on everything that a client controls. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { TlsOptions } from 'node:tls';
import { createCredentials, type TlsMaterial } from '../../kube/auth/credentials.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import {
  type ConnectionGuard,
  type ConnectionLimits,
  limitConnections,
} from '../../os/net/connection-limits.ts';
import { closeServer, httpUrl, listenOn } from '../../os/net/http-server.ts';
import type { HttpApi } from './api.ts';
import { type ApiAnswer, HttpProblem, problemAnswer } from './problem.ts';

export interface HttpServerOptions {
  readonly api: HttpApi;
  /** Names the server in the error of a port that is taken. Default: the HTTP API. */
  readonly what?: string;
  /** The largest body that is read. Default: MAX_BODY_BYTES. */
  readonly maxBodyBytes?: number;
  /** 0 selects a free port. */
  readonly port: number;
  readonly host: string;
  readonly certificate: CertificateFiles | TlsSource;
  readonly clock: Clock;
  readonly log: Log;
  readonly timeouts?: HttpTimeouts;
  readonly connections?: ConnectionLimits;
}

/** PEM files, read again when they change. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /** Authorities: only their clients are served. Default: a client needs no certificate. */
  readonly clientCaFile?: string;
}

/** Returns what is served. It is asked each minute, and the same object means that nothing changed. */
export interface TlsSource {
  current(): Promise<TlsMaterial>;
}

export interface HttpTimeouts {
  /** Until the headers are complete. */
  readonly headersMs: number;
  /** Until the body is complete. */
  readonly requestMs: number;
  readonly handshakeMs: number;
  readonly checkEveryMs: number;
}

export interface HttpServer {
  readonly url: string;
  close(): Promise<void>;
}

const TIMEOUTS: HttpTimeouts = {
  headersMs: 5000,
  requestMs: 10_000,
  handshakeMs: 5000,
  checkEveryMs: 1000,
};
const MAX_BODY_BYTES = 16_384;
const MAX_HEADER_BYTES = 16_384;
/** A caller needs a few. Many callers may share an address, behind a NAT or a proxy. */
const CONNECTIONS: ConnectionLimits = { total: 500, perAddress: 200, reserved: 100 };
/** Answers that only callers with a valid token get: decided, forbidden, and in conflict with an earlier answer. */
const AUTHENTICATED: readonly number[] = [200, 403, 409];
const KEEP_ALIVE_MS = 5000;
const RELOAD_MS = 60_000;

export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { port, host, certificate, clock, log, what = 'the HTTP API' } = options;
  const source = 'current' in certificate ? certificate : filesSource(certificate, clock);
  const tls = await source.current();
  const server = createLimitedServer(tls, options.timeouts ?? TIMEOUTS);
  const guard = limitConnections(server, options.connections ?? CONNECTIONS);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    // A client that disconnects in the middle is not an error of this process.
    serve(options, request, response, guard).catch((error: unknown) =>
      log.debug('answer not sent', { error }),
    );
  });
  const bound = await listenOn(server, what, { host, port });
  // Such as too many open files when a connection is accepted.
  server.on('error', (error) => log.error('HTTP API failed to accept', { error, what }));
  const stop = new AbortController();
  const reloading = reload(server, { current: () => source.current(), clock, log, tls }, stop.signal);
  return {
    url: httpUrl('https', { host, port: bound }),
    close: async () => {
      stop.abort();
      await Promise.all([reloading, closeServer(server)]);
    },
  };
}

function filesSource({ certFile, keyFile, clientCaFile }: CertificateFiles, clock: Clock): TlsSource {
  const files = { certFile, keyFile, ...optional('caFile', clientCaFile) };
  const credentials = createCredentials(files, { clock, origin: Object.values(files).join(', ') });
  return { current: async () => (await credentials.current()).tls };
}

function createLimitedServer(tls: TlsMaterial, timeouts: HttpTimeouts): Server {
  const { headersMs, requestMs, handshakeMs, checkEveryMs } = timeouts;
  const server = createServer({
    ...pairOf(tls),
    minVersion: 'TLSv1.2',
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    handshakeTimeout: handshakeMs,
    connectionsCheckingInterval: checkEveryMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
  });
  return server;
}

/** With an authority only clients that it certified complete the handshake. */
function pairOf({ ca, cert, key }: TlsMaterial): TlsOptions {
  const clients = ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: true };
  return { ...clients, ...optional('cert', cert), ...optional('key', key) };
}

async function serve(
  { api, maxBodyBytes = MAX_BODY_BYTES }: HttpServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  guard: ConnectionGuard,
): Promise<void> {
  const { method = '', url = '', headers, socket } = request;
  const answer = await api
    .handle({
      method,
      path: url.split('?')[0] ?? '',
      authorization: headers.authorization,
      address: socket.remoteAddress ?? 'unknown',
      readBody: () => readBody(request, maxBodyBytes),
    })
    .catch(problemAnswer);
  if (method === 'POST' && AUTHENTICATED.includes(answer.status)) guard.know(socket.remoteAddress);
  send(request, response, answer);
}

async function readBody(request: IncomingMessage, maxBytes: number): Promise<string> {
  try {
    return await collect(request, maxBytes);
  } catch (error) {
    if (error instanceof HttpProblem) throw error;
    throw new HttpProblem('BodyInvalid', 'the body is not complete', { cause: error });
  }
}

async function collect(request: IncomingMessage, maxBytes: number): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request) {
    const data = piece as Buffer;
    bytes += data.length;
    if (bytes > maxBytes) {
      throw new HttpProblem('BodyTooLarge', `a body may have at most ${maxBytes} bytes`);
    }
    pieces.push(data);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** A connection with an unread body is closed, so that the rest of it is not read. */
function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, body, headers }: ApiAnswer,
): void {
  if (response.destroyed) return;
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(request.complete ? {} : { connection: 'close' }),
    ...headers,
  });
  response.end(text);
}

interface Reload {
  readonly current: () => Promise<TlsMaterial>;
  readonly tls: TlsMaterial;
  readonly clock: Clock;
  readonly log: Log;
}

/** Certificates are renewed while the process runs. */
async function reload(
  server: Server,
  { current, clock, log, ...first }: Reload,
  stop: AbortSignal,
): Promise<void> {
  let { tls } = first;
  while (!stop.aborted) {
    // oxlint-disable-next-line no-await-in-loop -- one check after the other
    const next = await clock.sleep(RELOAD_MS, stop).then(current, () => tls);
    if (next === tls) continue;
    tls = next;
    server.setSecureContext(pairOf(tls));
    log.info('server certificate reloaded');
  }
}
