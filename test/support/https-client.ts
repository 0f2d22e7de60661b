/** A plain node:https client, for tests that must not depend on our own transports. */
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import type { CertificatePair } from '../../src/local/pki/certificate.ts';
import { collect } from './fault-proxy/upstream.ts';

export interface PlainAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** As received, compressed or not. */
  readonly bytes: Buffer;
}

export interface PlainRequest {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface PlainClient {
  /** Rejects if the answer is incomplete. */
  ask(path: string, request?: PlainRequest): Promise<PlainAnswer>;
  /** The parsed lines of a watch. Rejects when the connection breaks. */
  watch(path: string, signal?: AbortSignal): AsyncGenerator<WatchLine, undefined>;
  close(): void;
}

export interface WatchLine {
  readonly type: string;
  readonly object: {
    readonly metadata?: { readonly name?: string; readonly uid?: string };
    readonly code?: number;
  };
}

export function httpsClient(
  server: { readonly url: string; readonly caPem: string },
  pair?: CertificatePair,
): PlainClient {
  const credentials = pair ? { cert: pair.certPem, key: pair.keyPem } : {};
  const agent = new Agent({ keepAlive: true, ca: server.caPem, ...credentials });
  return { ask, watch, close: () => agent.destroy() };

  async function ask(path: string, asked: PlainRequest = {}): Promise<PlainAnswer> {
    const message = await open(path, asked);
    const bytes = await collect(message);
    return { status: message.statusCode ?? 0, headers: message.headers, body: bytes.toString('utf8'), bytes };
  }

  async function* watch(path: string, signal?: AbortSignal): AsyncGenerator<WatchLine, undefined> {
    const message = await open(path, signal ? { signal } : {});
    let rest = '';
    for await (const piece of message.setEncoding('utf8')) {
      const lines = `${rest}${String(piece)}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield JSON.parse(line) as WatchLine;
    }
    return undefined;
  }

  function open(path: string, asked: PlainRequest): Promise<IncomingMessage> {
    const { method = 'GET', body, headers = {}, signal } = asked;
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const text = body === undefined ? undefined : JSON.stringify(body);
    const type = text === undefined ? {} : { 'content-type': 'application/json' };
    const outgoing = request(
      new URL(path, server.url),
      { method, agent, headers: { ...type, ...headers }, ...(signal && { signal }) },
      resolve,
    );
    outgoing.on('error', reject);
    outgoing.end(text);
    return promise;
  }
}
