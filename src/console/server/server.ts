/** The HTTP server of the console: the page, and the stream of its changes. Its access decides what a request may see. */
import { createServer, type IncomingMessage, type ServerOptions, type ServerResponse } from 'node:http';
import { type ConnectionLimits, limitConnections } from '../../os/net/connection-limits.ts';
import { closeServer, httpUrl, listenOn } from '../../os/net/http-server.ts';
import { rangeOf } from '../state/history/ranges.ts';
import { decodePart } from '../state/pages/address.ts';
import type { Admitted, ConsoleAccess } from './access.ts';
import { type DataName, EVENTS_PATH } from './paths.ts';
import { type ReplyContent, sendContent, sendText } from './replies.ts';
import type { ReadOnDemand } from './streams.ts';

/** Where the console listens, unless a person or a demo chooses another port. */
export const CONSOLE_PORT = 8484;

export interface PageFile {
  readonly type: string;
  readonly content: Buffer;
}

export interface ConsoleServerOptions {
  readonly connections?: ConnectionLimits;
  /** Until the headers of a request are complete. */
  readonly headersMs?: number;
  /** By path. */
  readonly files: ReadonlyMap<string, PageFile>;
  readonly access: ConsoleAccess;
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
}

export interface ConsoleServer {
  readonly url: string;
  close(): Promise<void>;
}

const SESSION = '/session';
/**
 * Browsers open connections before they need them. On a busy machine a request follows much later, and a page whose script gets status 408
 * stays empty. A client that opens many and sends nothing takes no place from others: `CONNECTIONS`.
 */
const HEADERS_MS = 60_000;
const KEEP_ALIVE_MS = 5000;
/** By default Node checks its time limits every 30 s: a connection that sends nothing would stay that much longer. */
const CHECKS_PER_LIMIT = 5;
/** A browser opens six at most. Behind a forwarded port, all have one address. */
const CONNECTIONS: ConnectionLimits = { total: 200, perAddress: 100, reserved: 50 };

export async function startConsoleServer(options: ConsoleServerOptions): Promise<ConsoleServer> {
  const { access, files, host, port } = options;
  const stop = new AbortController();
  const server = createServer(timeoutsOf(options.headersMs ?? HEADERS_MS), (request, response) => {
    void answerSafely(request, response);
  });
  const guard = limitConnections(server, options.connections ?? CONNECTIONS);
  const bound = await listenOn(server, 'the console', { host, port });
  const running = access.run(stop.signal);
  return {
    url: `${httpUrl('http', { host, port: bound })}/`,
    async close() {
      stop.abort();
      await running;
      await closeServer(server);
    },
  };

  async function answerSafely(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const admitted = await access.admit(request, response);
      if (!admitted) return;
      guard.know(request.socket.remoteAddress);
      await serve(request, response, { files, admitted });
    } catch {
      // The message of an error may contain what the request must not learn.
      if (response.headersSent) response.destroy();
      else sendText(response, 500, 'the console failed to answer: try again');
    }
  }
}

function timeoutsOf(ms: number): ServerOptions {
  return {
    headersTimeout: ms,
    requestTimeout: ms,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: ms / CHECKS_PER_LIMIT,
  };
}

interface Served {
  readonly files: ConsoleServerOptions['files'];
  readonly admitted: Admitted;
}

async function serve(
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
  { files, admitted }: Served,
): Promise<void> {
  const path = url.split('?')[0] ?? '';
  if (path === EVENTS_PATH && method === 'GET') {
    const because = await admitted.addStream(response);
    if (because !== undefined) sendText(response, 503, because);
    return;
  }
  const content = files.get(path);
  if (content) sendContent(response, 200, content);
  else if (path === SESSION) sendContent(response, 200, sessionContent(admitted.session));
  else await sendData(response, path, admitted.source);
}

/** Without a login there is no session. */
function sessionContent(session: Admitted['session']): ReplyContent {
  return jsonContent(session ?? {});
}

/** Without a source nothing is known: that is not an answer about the fleet. */
async function sendData(
  response: ServerResponse,
  path: string,
  source: ReadOnDemand | undefined,
): Promise<void> {
  const [first, ...parts] = path.slice(1).split('/').map(decodePart);
  const read = DATA.get(first ?? '');
  if (!read) sendText(response, 404, 'not found');
  else if (!source) sendText(response, 503, 'no page of this session is connected to the fleet');
  else sendContent(response, 200, jsonContent((await read(source, parts)) ?? null));
}

function jsonContent(data: object | null): ReplyContent {
  return { type: 'application/json; charset=utf-8', content: JSON.stringify(data) };
}

type ReadData = (
  source: ReadOnDemand,
  parts: readonly string[],
) => object | undefined | Promise<object | undefined>;

/** Reads what a page asks for, by the first part of the path. The answer is null without data: the browser reports no error then. */
const DATA: ReadonlyMap<string, ReadData> = new Map<DataName, ReadData>([
  ['machines', (source, [cluster = '', name = '']) => source.machine?.(cluster, name)],
  ['events-of', (source, [cluster = '', name = '']) => source.events?.(cluster, name)],
  ['why', (source, [cluster = '', name = '']) => source.why?.(cluster, name)],
  [
    'history',
    async (source, [range = '']) => {
      const known = rangeOf(range);
      return known && (await source.past?.(known));
    },
  ],
]);
