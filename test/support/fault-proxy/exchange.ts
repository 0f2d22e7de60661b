/** Handles one request: the shell around the faults. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { pipeline as pipelined } from 'node:stream/promises';
import type { Call } from './call.ts';
import type { OpenExchange } from './log.ts';
import type { Head, ProxiedRequest } from './proxied-request.ts';
import { swapText } from './swap-text.ts';
import { collect, type Upstream } from './upstream.ts';

/** Everything that belongs to one request. */
export interface Carried {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Below TLS, because only there can a connection be reset. */
  readonly rawSocket: Socket | undefined;
  readonly body: Buffer;
  readonly call: Call;
  readonly entry: OpenExchange;
  readonly upstream: Upstream;
  readonly principal: Parameters<Upstream['send']>[1];
  /** The real UID of the namespace kube-system, and its UID at this listener. */
  readonly swap: { readonly from: string; readonly to: string } | undefined;
  readonly ending: AbortSignal;
}

/** The API server was unreachable, or its answer was incomplete. The client gets a broken connection. */
export class UpstreamError extends Error {}

export function createProxiedRequest(carried: Carried): ProxiedRequest {
  const { request, response, entry, ending } = carried;
  const disconnected = Promise.withResolvers<void>();
  const client = new AbortController();
  let head: Head | undefined;
  response.once('close', () => {
    leave();
    ending.removeEventListener('abort', leave);
  });
  ending.addEventListener('abort', leave);
  if (response.destroyed) leave();

  const proxied: ProxiedRequest = {
    call: carried.call,
    ending,
    disconnected: disconnected.promise,
    get serverStatus() {
      return entry.serverStatus;
    },
    async forward() {
      const whole = await send(client.signal, 'as asked');
      begin({ status: whole.statusCode ?? 502, headers: headersOf(whole, OF_THE_CONNECTION) });
      await pipelined(rightUid(whole), response).catch(upstreamError);
    },
    async ask() {
      const whole = await send(ending);
      const answered = await collect(rightUid(whole)).catch(upstreamError);
      return { status: whole.statusCode ?? 502, headers: headersOf(whole, OF_THE_BODY), body: answered };
    },
    async open() {
      const whole = await send(client.signal);
      head = { status: whole.statusCode ?? 502, headers: headersOf(whole, OF_THE_BODY) };
      return rightUid(whole);
    },
    begin: (given = head) => {
      if (!given) throw new Error('begin() without a head comes after open()');
      begin(given);
    },
    write: (piece) =>
      new Promise((resolve) => {
        // A piece that was read already when a test ended the watch.
        if (response.writableEnded) resolve();
        else response.write(piece, () => resolve());
      }),
    end: () => {
      response.end();
    },
    reply: ({ status, headers, body }) => {
      begin({ status, headers: { ...headers, 'content-length': String(body.length) } });
      response.end(body);
    },
    cut: (how) => {
      if (how === 'reset') carried.rawSocket?.resetAndDestroy();
      request.socket.destroy();
    },
  };
  return proxied;

  function leave(): void {
    disconnected.resolve();
    client.abort();
  }

  function begin({ status, headers }: Head): void {
    response.writeHead(status, { ...headers } as OutgoingHttpHeaders);
    // Now, not with the first byte of the body: a watch may send nothing for minutes.
    response.flushHeaders();
    entry.status = status;
  }

  async function send(signal: AbortSignal, encoding?: 'as asked'): Promise<IncomingMessage> {
    entry.reached = true;
    const { method = 'GET', url: target = '/' } = request;
    const compressed = encoding && !carried.swap ? request.headers['accept-encoding'] : undefined;
    const headers = { ...request.headers, 'accept-encoding': compressed ?? 'identity' };
    const outgoing = { method, target, headers, body: carried.body };
    const whole = await carried.upstream.send(outgoing, carried.principal, signal).catch(upstreamError);
    entry.serverStatus = whole.statusCode;
    return whole;
  }

  function rightUid(whole: IncomingMessage): Readable {
    const { swap } = carried;
    return swap ? pipeline(whole, swapText(swap.from, swap.to), () => undefined) : whole;
  }
}

const OF_THE_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding']);
// No longer correct if the body is rewritten.
const OF_THE_BODY = new Set([...OF_THE_CONNECTION, 'content-length', 'content-encoding']);

function headersOf(message: IncomingMessage, except: ReadonlySet<string>): Head['headers'] {
  return Object.fromEntries(Object.entries(message.headers).filter(([name]) => !except.has(name)));
}

function upstreamError(cause: unknown): never {
  throw new UpstreamError('the answer of the API server behind the fault proxy is incomplete', { cause });
}
