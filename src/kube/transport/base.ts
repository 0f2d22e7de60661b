/**
 * What both transports have in common: how a request is written, how an answer is read, and what its faults are
 * called. Each transport adds how the bytes travel. Needs nothing but Node.
 */
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { isHandshakeError } from '../../os/network-errors.ts';
import type { Connection, Identity } from '../auth/credentials.ts';
import { KubeError } from '../client/errors.ts';
import { createDeadline, type Deadline } from './deadline.ts';

import type { HttpRequest, HttpResponse, HttpStream, Transport } from './transport.ts';

export interface TransportOptions {
  /** How many calls at once; more wait for a connection. Watches do not count. */
  readonly maxConnections?: number;
  readonly connectTimeoutMs?: number;
  /** For calls without `timeoutMs`. */
  readonly timeoutMs?: number;
  /** Ask for compressed answers: worth it over slow lines only. */
  readonly gzip?: boolean;
}

// More than 16 writers at once hardly made a local API server faster (bench/apply.ts); twice that for distant ones.
export const MAX_CONNECTIONS = 32;
export const CONNECT_TIMEOUT_MS = 10_000;
// Load balancers drop idle connections after 60 s, API servers after 90 s: ours go first.
export const KEEP_ALIVE_MS = 45_000;
const TIMEOUT_MS = 30_000;
// A string has at most 2^29 - 24 units in V8. What is larger must be asked for in pages.
const LONGEST_TEXT = 2 ** 29 - 24;

export interface WireRequest {
  readonly method: HttpRequest['method'];
  readonly path: string;
  readonly headers: Record<string, string | string[]>;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
}

export interface WireResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
}

/** How the bytes travel. `calls` and `streams` have connections of their own, so that watches never starve calls. */
export interface Wire {
  send(outgoing: WireRequest, identity: Identity, kind: 'calls' | 'streams'): Promise<WireResponse>;
  close(): Promise<void>;
}

export function createTransport(wire: Wire, connection: Connection, options: TransportOptions): Transport {
  const prefix = new URL(connection.server).pathname.replace(/\/$/, '');
  const { timeoutMs = TIMEOUT_MS } = options;
  let closed = false;

  return {
    request,
    stream,
    close: async () => {
      closed = true;
      await wire.close();
    },
  };

  async function request(asked: HttpRequest): Promise<HttpResponse> {
    const limit = createDeadline(asked.signal, asked.timeoutMs ?? timeoutMs, 'waiting for the answer');
    let begun = false;
    try {
      const { status, headers, body } = await send(asked, limit, 'calls');
      begun = true;
      return { status, headers, body: await textOf(body) };
    } catch (error) {
      throw limit.explain(error, begun);
    } finally {
      limit.clear();
    }
  }

  async function stream(asked: HttpRequest): Promise<HttpStream> {
    const limit = createDeadline(
      asked.signal,
      asked.timeoutMs ?? timeoutMs,
      'waiting for more of the answer',
    );
    try {
      const { status, headers, body } = await send(asked, limit, 'streams');
      limit.extend();
      return { status, headers, body: pieces(body, limit) };
    } catch (error) {
      limit.clear();
      throw limit.explain(error);
    }
  }

  async function send(asked: HttpRequest, limit: Deadline, kind: 'calls' | 'streams'): Promise<Answer> {
    if (closed) throw new KubeError('Aborted', 'this client is closed');
    const { credentials } = connection;
    const identity = await credentials.current();
    limit.signal.throwIfAborted();
    asked.beforeSend?.();
    try {
      const outgoing = written(asked, identity, limit.signal);
      const answer = read(await wire.send(outgoing, identity, kind));
      // The server knows us no more: perhaps the token was renewed and our copy is old.
      if (answer.status === 401) credentials.forget();
      return answer;
    } catch (error) {
      // Perhaps the CA or our certificate was renewed. A server that is down is no reason to run a plug-in again.
      if (isHandshakeError(error)) credentials.forget();
      throw error;
    }
  }

  function written(asked: HttpRequest, identity: Identity, signal: AbortSignal): WireRequest {
    const { method, path, query, body, contentType, accept } = asked;
    const headers: Record<string, string | string[]> = { accept: accept ?? 'application/json' };
    if (connection.userAgent) headers['user-agent'] = connection.userAgent;
    if (options.gzip) headers['accept-encoding'] = 'gzip';
    if (body !== undefined) headers['content-type'] = contentType ?? 'application/json';
    for (const [name, value] of Object.entries(identity.headers)) {
      headers[name] = typeof value === 'string' ? value : [...value];
    }
    return { method, path: `${prefix}${path}${queryText(query)}`, headers, body, signal };
  }
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
}

function queryText(query: HttpRequest['query']): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) params.set(name, value);
  }
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

function read({ status, headers, body }: WireResponse): Answer {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) plain[name.toLowerCase()] = typeof value === 'string' ? value : value.join(', ');
  }
  // Whoever reads it gets its error; when nobody reads, the error must not end the process.
  body.on('error', () => {});
  return { status, headers: plain, body: decoded(body, plain['content-encoding']) };
}

function decoded(body: Readable, encoding: string | undefined): Readable {
  if (encoding === undefined || encoding === 'identity' || encoding === '') return body;
  // Errors of the body reach the reader through the pipeline; its callback has nothing to add.
  if (encoding === 'gzip') return pipeline(body, createGunzip(), () => {});
  body.destroy();
  throw new KubeError('BadAnswer', `the answer is encoded as ${encoding}, which nobody asked for`);
}

/** Decoded piece by piece: one large buffer less for each page of a list. */
async function textOf(body: Readable): Promise<string> {
  const parts: string[] = [];
  let length = 0;
  body.setEncoding('utf8');
  for await (const part of body as AsyncIterable<string>) {
    length += part.length;
    if (length > LONGEST_TEXT) {
      throw new KubeError('BadAnswer', `the answer is longer than ${LONGEST_TEXT} characters: ask for pages`);
    }
    parts.push(part);
  }
  return parts.join('');
}

/** Leaving the loop early ends the connection. */
async function* pieces(body: Readable, limit: Deadline): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      limit.extend();
      yield piece;
      limit.extend();
    }
  } catch (error) {
    throw limit.explain(error, true);
  } finally {
    limit.clear();
    body.destroy();
  }
}
