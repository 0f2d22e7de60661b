/**
 * Sends requests to one receiver outside of the cluster. A receiver that does not answer is left alone for a while, longer each time, so that
 * thousands of requests for it cost few connections.
 */
import type { Clock } from '../clock.ts';
import { messageOf } from '../errors.ts';
import type { ExchangeAnswer, ExchangeLimits, ExchangeRequest } from './exchange.ts';
import { describeNetworkError } from './network-errors.ts';
import { readRetryAfterMs } from './retry-after.ts';

export type SendOutcome =
  | { readonly outcome: 'Delivered'; readonly body: string }
  /** Not this request: `retryMs` until it is sent again, where that may help. */
  | { readonly outcome: 'Refused'; readonly because: string; readonly retryMs: number }
  /** The receiver is not well, which other requests would meet, too. */
  | { readonly outcome: 'Failed'; readonly because: string; readonly retryMs: number }
  /** Nothing was sent. */
  | { readonly outcome: 'Postponed'; readonly retryMs: number };

export interface SenderRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface SenderPorts {
  readonly clock: Clock;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly exchange: (
    url: string,
    request: ExchangeRequest,
    limits: ExchangeLimits,
  ) => Promise<ExchangeAnswer>;
}

export interface SenderOptions extends SenderPorts {
  /** Whether an answer with this status means that the request is the problem, and not the receiver. */
  readonly isRefusal: (status: number) => boolean;
}

export interface Sender {
  /**
   * Posts what `prepare` resolves with, which is called for a request that is sent. Its rejection counts as one of the receiver. Rejects only
   * when it is aborted.
   */
  send(prepare: () => Promise<SenderRequest>, signal: AbortSignal): Promise<SendOutcome>;
}

const TIMEOUT_MS = 10_000;
const FIRST_PAUSE_MS = 5000;
const LONGEST_PAUSE_MS = 300_000;

export function createSender({ clock, random, exchange, isRefusal }: SenderOptions): Sender {
  let failures = 0;
  /** When the newest pause began. */
  let pausedAtMs = Number.NEGATIVE_INFINITY;
  let pausedUntilMs = 0;
  return { send };

  async function send(prepare: () => Promise<SenderRequest>, signal: AbortSignal): Promise<SendOutcome> {
    const leftMs = pausedUntilMs - clock.monotonicMs();
    // Not all at the same moment.
    if (leftMs > 0) return { outcome: 'Postponed', retryMs: leftMs + random() * FIRST_PAUSE_MS };
    const sentMs = clock.monotonicMs();
    const tried = await tryOnce(prepare, signal);
    if (tried.outcome !== 'Failed') {
      failures = 0;
      return tried.outcome === 'Delivered' ? tried : { ...tried, retryMs: LONGEST_PAUSE_MS };
    }
    pause(sentMs, tried.afterMs);
    const { outcome, because } = tried;
    return { outcome, because, retryMs: pausedUntilMs - clock.monotonicMs() };
  }

  /** Requests that were sent at the same time and failed count as one failure. */
  function pause(sentMs: number, afterMs = 0): void {
    failures = pausedAtMs < sentMs ? failures + 1 : Math.max(failures, 1);
    pausedAtMs = clock.monotonicMs();
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
    const untilMs = pausedAtMs + Math.min(Math.max(pauseMs, afterMs), LONGEST_PAUSE_MS);
    pausedUntilMs = Math.max(pausedUntilMs, untilMs);
  }

  async function tryOnce(prepare: () => Promise<SenderRequest>, signal: AbortSignal): Promise<Tried> {
    const request = await prepare().catch((error: unknown) => messageOf(error));
    if (typeof request === 'string') return { outcome: 'Failed', because: request };
    const { url, ...content } = request;
    try {
      const answer = await exchange(
        url,
        { method: 'POST', ...content },
        { clock, signal, timeoutMs: TIMEOUT_MS },
      );
      return judge(answer);
    } catch (error) {
      signal.throwIfAborted();
      return { outcome: 'Failed', because: describeNetworkError(error).message };
    }
  }

  /** The body of an answer may quote the request: only its status is reported. */
  function judge({ status, headers, body }: ExchangeAnswer): Tried {
    if (status >= 200 && status <= 299) return { outcome: 'Delivered', body };
    const because = `it answered with status ${status}`;
    if (isRefusal(status)) return { outcome: 'Refused', because };
    const afterMs = readRetryAfterMs(headers.get('retry-after'), clock.now());
    return { outcome: 'Failed', because, ...(afterMs === undefined ? {} : { afterMs }) };
  }
}

type Tried =
  | { readonly outcome: 'Delivered'; readonly body: string }
  | { readonly outcome: 'Refused'; readonly because: string }
  | { readonly outcome: 'Failed'; readonly because: string; readonly afterMs?: number };
