/** The HTTP server of the console: the page, and the stream of its changes. Reads nothing from a request but its method, host and path. */
import { createServer, type IncomingMessage, type ServerOptions, type ServerResponse } from 'node:http';
import type { Clock } from '../../os/clock.ts';
import { type ConnectionLimits, clientAddress, limitConnections } from '../../os/net/connection-limits.ts';
import { closeServer, httpUrl, listenOn } from '../../os/net/http-server.ts';
import { refuseRequest, SECURITY_HEADERS } from './guard.ts';
import { type ConsoleSource, createEventStreams, type EventStreams, type StreamsOptions } from './streams.ts';

/** Where the console listens, unless a person or a demo chooses another port. */
export const CONSOLE_PORT = 8484;

export interface PageFile {
  readonly type: string;
  readonly content: Buffer;
}

export interface ConsoleServerOptions
  extends Pick<StreamsOptions, 'maxStreams' | 'maxStreamsPerAddress' | 'maxUnreadBytes'> {
  readonly connections?: ConnectionLimits;
  /** Until the headers of a request are complete. */
  readonly headersMs?: number;
  /** By path. */
  readonly files: ReadonlyMap<string, PageFile>;
  readonly source: ConsoleSource;
  readonly clock: Clock;
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
}

export interface ConsoleServer {
  readonly url: string;
  close(): Promise<void>;
}

const EVENTS = '/events';
const HEADERS_MS = 5000;
/** By default Node checks its time limits every 30 s: a connection that sends nothing would stay that long. */
const CHECKS_PER_LIMIT = 5;
/** A browser opens six at most. Behind a forwarded port, all have one address. */
const CONNECTIONS: ConnectionLimits = { total: 200, perAddress: 100, reserved: 50 };

export async function startConsoleServer(options: ConsoleServerOptions): Promise<ConsoleServer> {
  const { host, port } = options;
  const stop = new AbortController();
  const streams = createEventStreams(options);
  const server = createServer(timeoutsOf(options.headersMs ?? HEADERS_MS), (request, response) => {
    if (isAnswered(request, response, host)) return;
    guard.know(request.socket.remoteAddress);
    serve(request, response, { files: options.files, source: options.source, streams });
  });
  const guard = limitConnections(server, options.connections ?? CONNECTIONS);
  const bound = await listenOn(server, 'the console', { host, port });
  const running = streams.run(stop.signal);
  return {
    url: `${httpUrl('http', { host, port: bound })}/`,
    async close() {
      stop.abort();
      await running;
      await closeServer(server);
    },
  };
}

function timeoutsOf(ms: number): ServerOptions {
  return {
    headersTimeout: ms,
    requestTimeout: ms,
    keepAliveTimeout: ms,
    connectionsCheckingInterval: ms / CHECKS_PER_LIMIT,
  };
}

/** True: it was refused. */
function isAnswered(
  { method, headers }: IncomingMessage,
  response: ServerResponse,
  ownHost: string,
): boolean {
  const refused = refuseRequest({ method, host: headers.host }, ownHost);
  if (!refused) return false;
  sendText(response, refused.status, refused.because);
  return true;
}

interface Served {
  readonly files: ConsoleServerOptions['files'];
  readonly source: ConsoleSource;
  readonly streams: EventStreams;
}

function serve(
  { method, url = '', socket }: IncomingMessage,
  response: ServerResponse,
  { files, source, streams }: Served,
): void {
  const path = url.split('?')[0] ?? '';
  if (path === EVENTS && method === 'GET') {
    const isAdded = streams.add(response, clientAddress(socket.remoteAddress));
    if (!isAdded) sendText(response, 503, 'too many pages are open: close one');
    return;
  }
  const file = files.get(path) ?? machineFile(path, source);
  if (!file) return sendText(response, 404, 'not found');
  const { type, content } = file;
  response.writeHead(200, {
    ...SECURITY_HEADERS,
    'content-type': type,
    'content-length': content.byteLength,
  });
  // Node omits the body for a HEAD request.
  response.end(content);
}

const MACHINES = '/machines/';

/** The detail of a machine, by `/machines/<cluster>/<machine>`. A machine that is not known has none: the page shows what it has. */
function machineFile(path: string, source: ConsoleSource): PageFile | undefined {
  if (!path.startsWith(MACHINES)) return undefined;
  const [cluster = '', name = ''] = path.slice(MACHINES.length).split('/').map(decodePart);
  const detail = source.machine?.(cluster, name) ?? null;
  return { type: 'application/json', content: Buffer.from(JSON.stringify(detail)) };
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    'content-type': 'text/plain; charset=utf-8',
    ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
  });
  response.end(`${text}\n`);
}
