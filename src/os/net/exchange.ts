/** One HTTP request and its whole answer, with limits of time and size. For APIs: redirects are answers, and nothing is repeated. */
import type { Clock } from '../clock.ts';
import { withDeadline } from '../deadline.ts';
import { readLimited } from './limited.ts';

export interface ExchangeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface ExchangeLimits {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export interface ExchangeAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** A page of an API has a thousand objects at most, of a few kilobytes each. */
const MAX_BYTES = 16 * 1024 ** 2;

/** Rejects without a whole answer: the server may have carried out the request. */
export async function exchange(
  url: string,
  request: ExchangeRequest,
  { clock, signal, timeoutMs }: ExchangeLimits,
): Promise<ExchangeAnswer> {
  const expired = (): Error => new Error(`no answer within ${timeoutMs / 1000} s`);
  return await withDeadline({ clock, ms: timeoutMs, signal, expired }, async (ended) => {
    const response = await fetch(formRequest(url, request), { signal: ended });
    const body = response.body ? await readLimited(response.body, MAX_BYTES) : Buffer.alloc(0);
    return { status: response.status, headers: response.headers, body: body.toString('utf8') };
  });
}

/** Forms the request. The error of fetch quotes the header or the URL, which may contain a secret: it is neither returned nor a cause. */
function formRequest(url: string, request: ExchangeRequest): Request {
  try {
    return new Request(url, { ...request, redirect: 'manual' });
  } catch {
    throw new Error('the request was not sent: a header or the URL has characters that HTTP does not permit');
  }
}
