/**
 * The part of a transport that does not depend on the HTTP client: building requests, reading answers, and describing errors.
 * The HTTP client is a `Wire`. Uses no npm package.
 */
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { isHandshakeError } from '../../os/net/network-errors.ts';
import {
  type AuthHeaders,
  type Connection,
  type Identity,
  impersonationHeaders,
} from '../auth/credentials.ts';
import { KubeError } from '../client/errors.ts';
import { createDeadline, type Deadline } from './deadline.ts';

import type { HttpRequest, HttpResponse, HttpStream, Transport } from './transport.ts';

export interface TransportOptions {
  /** Maximum of concurrent calls; others wait for a connection. Watches do not count. */
  readonly maxConnections?: number;
  readonly connectTimeoutMs?: number;
  /** For calls without `timeoutMs`. */
  readonly timeoutMs?: number;
  /** Request compressed answers. Useful only on slow networks. */
  readonly gzip?: boolean;
}

// More than 16 concurrent writers hardly speed up a local API server (bench/apply.ts); twice that for remote ones.
export const MAX_CONNECTIONS = 32;
export const CONNECT_TIMEOUT_MS = 10_000;
// Load balancers close idle connections after 60 s, API servers after 90 s: close ours earlier.
export const KEEP_ALIVE_MS = 45_000;
const TIMEOUT_MS = 30_000;
// V8 limits strings to 2^29 - 24 units. Anything larger must be read in pages.
const MAX_TEXT_LENGTH = 2 ** 29 - 24;

export interface WireRequest {
  readonly method: HttpRequest['method'];
  readonly path: string;
  readonly headers: Record<string, string | string[]>;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
  /** Called once the connection is ready, immediately before the request leaves. When it throws, nothing is sent. */
  readonly beforeSend: (() => void) | undefined;
}

export interface WireResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
}

/** Sends requests. `calls` and `streams` use separate connections, so that watches never starve calls. */
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
    let answerStarted = false;
    try {
      const { status, headers, body } = await send(asked, limit, 'calls');
      answerStarted = true;
      return { status, headers, body: await readText(body) };
    } catch (error) {
      throw limit.explain(error, answerStarted);
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
      return { status, headers, body: readChunks(body, limit) };
    } catch (error) {
      limit.clear();
      throw limit.explain(error);
    }
  }

  async function send(
    asked: HttpRequest,
    limit: Deadline,
    kind: 'calls' | 'streams',
  ): Promise<DecodedAnswer> {
    if (closed) throw new KubeError('Aborted', 'this client is closed');
    const { credentials } = connection;
    const identity = await credentials.current();
    limit.signal.throwIfAborted();
    // What is stopped already opens no connection.
    asked.beforeSend?.();
    try {
      const outgoing = buildRequest(asked, identity, limit.signal);
      const answer = readAnswer(await wire.send(outgoing, identity, kind));
      // Our copy of the token may be outdated.
      if (answer.status === 401) credentials.forget();
      return answer;
    } catch (error) {
      // The CA or our certificate may have been renewed. Not for a server that is down: that needs no new credentials.
      if (isHandshakeError(error)) credentials.forget();
      throw error;
    }
  }

  function buildRequest(asked: HttpRequest, identity: Identity, signal: AbortSignal): WireRequest {
    const { method, path, query, body, contentType, accept, beforeSend, impersonate } = asked;
    const headers: Record<string, string | string[]> = { accept: accept ?? 'application/json' };
    if (connection.userAgent) headers['user-agent'] = connection.userAgent;
    if (options.gzip) headers['accept-encoding'] = 'gzip';
    if (body !== undefined) headers['content-type'] = contentType ?? 'application/json';
    for (const [name, value] of Object.entries(authHeaders(identity, impersonate))) {
      headers[name] = typeof value === 'string' ? value : [...value];
    }
    return { method, path: `${prefix}${path}${queryText(query)}`, headers, body, signal, beforeSend };
  }
}

/** Groups of one user must never be combined with the name of another. */
function authHeaders({ headers }: Identity, impersonate: HttpRequest['impersonate']): AuthHeaders {
  if (!impersonate) return headers;
  const own = Object.entries(headers).filter(([name]) => !name.toLowerCase().startsWith('impersonate-'));
  return { ...Object.fromEntries(own), ...impersonationHeaders(impersonate) };
}

interface DecodedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
}

function queryText(query: HttpRequest['query']): string {
  let text = '';
  for (const name in query) {
    const value = query[name];
    if (value !== undefined) text += `${text === '' ? '?' : '&'}${formText(name)}=${formText(value)}`;
  }
  return text;
}

/** Most names and values need no escapes. */
function formText(text: string): string {
  return /^[\w.*-]*$/.test(text) ? text : new URLSearchParams([['', text]]).toString().slice(1);
}

function readAnswer({ status, headers, body }: WireResponse): DecodedAnswer {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) plain[name.toLowerCase()] = typeof value === 'string' ? value : value.join(', ');
  }
  // A reader gets the error. Without a reader it must not end the process.
  body.on('error', () => {});
  return { status, headers: plain, body: decoded(body, plain['content-encoding']) };
}

function decoded(body: Readable, encoding: string | undefined): Readable {
  if (encoding === undefined || encoding === 'identity' || encoding === '') return body;
  // Errors of the body reach the reader through the pipeline, so its callback is empty.
  if (encoding === 'gzip') return pipeline(body, createGunzip(), () => {});
  body.destroy();
  throw new KubeError('BadAnswer', `the answer has the unrequested encoding ${encoding}`);
}

/** Decodes in chunks, which saves one large buffer for each page of a list. An async iterator would take longer than the answer. */
function readText(body: Readable): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const parts: string[] = [];
  let length = 0;
  body.setEncoding('utf8');
  body.on('data', (part: string) => {
    length += part.length;
    if (length > MAX_TEXT_LENGTH) body.destroy(tooLong());
    else parts.push(part);
  });
  body.on('end', () => resolve(parts.join('')));
  body.on('error', reject);
  // Neither an end nor an error: the connection was closed in the middle.
  body.on('close', () => {
    // The stack of an error takes longer than the rest of this function.
    if (!body.readableEnded) reject(new Error('closed before the end'));
  });
  return promise;
}

function tooLong(): KubeError {
  return new KubeError(
    'BadAnswer',
    `the answer is longer than ${MAX_TEXT_LENGTH} characters: read it in pages`,
  );
}

/** Leaving the loop early closes the connection. */
async function* readChunks(body: Readable, limit: Deadline): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      limit.extend();
      yield chunk;
      limit.extend();
    }
  } catch (error) {
    throw limit.explain(error, true);
  } finally {
    limit.clear();
    body.destroy();
  }
}
