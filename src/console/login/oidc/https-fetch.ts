/** A fetch over node:https with the authority of an issuer, for openid-client: short answers, no redirects, and nothing without TLS. */
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';

/** The largest answer: keys and metadata of issuers have some KiB. */
const MAX_ANSWER_BYTES = 1024 * 1024;

export interface HttpsFetchOptions {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

export type HttpsFetch = (url: string, options: HttpsFetchOptions) => Promise<Response>;

/** `caPem`: undefined for the authorities of the system. */
export function createHttpsFetch(caPem: string | undefined): HttpsFetch {
  return async (url, { method, headers, body, signal }) => {
    if (!url.startsWith('https://')) throw new Error(`the issuer names a URL without TLS: ${url}`);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const options = { method, headers, agent: false, ...(caPem === undefined ? {} : { ca: caPem }) };
    const sent = request(url, { ...options, ...(signal ? { signal } : {}) }, resolve);
    sent.once('error', reject);
    sent.end(bodyText(body));
    return await readResponse(await promise);
  };
}

function bodyText(body: unknown): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError('expected a form as the body');
}

async function readResponse(message: IncomingMessage): Promise<Response> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of message as AsyncIterable<Buffer>) {
    bytes += part.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw new Error('the answer of the issuer is too long');
    parts.push(part);
  }
  const { statusCode: status = 0, headers } = message;
  const type = headers['content-type'];
  const isEmpty = status === 204 || status === 304;
  return new Response(isEmpty ? null : Buffer.concat(parts), {
    status,
    headers: type === undefined ? {} : { 'content-type': type },
  });
}
