/**
 * Sends notices to the receivers of the configuration. A receiver that does not answer is left alone for a while, longer each time, so that
 * thousands of notices for it cost few requests.
 */
import { optional } from '../../../kube/objects/optional.ts';
import type { Clock } from '../../../os/clock.ts';
import { messageOf } from '../../../os/errors.ts';
import type { ExchangeAnswer, ExchangeLimits, ExchangeRequest } from '../../../os/net/exchange.ts';
import { describeNetworkError } from '../../../os/net/network-errors.ts';
import { readRetryAfterMs } from '../../../os/net/retry-after.ts';
import type { Delivery } from '../plan.ts';
import type { NotificationConfig, ReceiverConfig } from './config.ts';
import { type ReceiverSecrets, requestFor } from './shapes.ts';

export type SendOutcome =
  | { readonly outcome: 'Delivered' }
  /** Not this notice: `retryMs` until it is sent again. */
  | { readonly outcome: 'Refused'; readonly because: string; readonly retryMs: number }
  /** The receiver is not well, which other notices would meet, too. */
  | { readonly outcome: 'Failed'; readonly because: string; readonly retryMs: number }
  /** Nothing was sent. */
  | { readonly outcome: 'Postponed'; readonly retryMs: number };

export interface ReceiverParts {
  readonly config: NotificationConfig;
  readonly clock: Clock;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly exchange: (
    url: string,
    request: ExchangeRequest,
    limits: ExchangeLimits,
  ) => Promise<ExchangeAnswer>;
  /** Read at each delivery, because people replace keys. */
  readonly readFile: (path: string) => Promise<string>;
}

export interface Receivers {
  /** Rejects only when it is aborted. */
  send(delivery: Delivery, signal: AbortSignal): Promise<SendOutcome>;
}

const TIMEOUT_MS = 10_000;
const FIRST_PAUSE_MS = 5000;
const LONGEST_PAUSE_MS = 300_000;
/** The answers that say that this notice is the problem, and not the receiver or its key. */
const OF_THE_NOTICE: readonly number[] = [400, 409, 413, 422];

interface Health {
  failures: number;
  pausedUntilMs: number;
}

export function createReceivers(parts: ReceiverParts): Receivers {
  const { config, clock, random } = parts;
  const byName = new Map(config.receivers.map((receiver) => [receiver.name, receiver]));
  const healths = new Map<string, Health>();
  return { send };

  async function send(delivery: Delivery, signal: AbortSignal): Promise<SendOutcome> {
    const receiver = byName.get(delivery.receiver);
    if (!receiver) throw new Error(`no receiver is named ${delivery.receiver}`);
    const health = healths.get(receiver.name) ?? { failures: 0, pausedUntilMs: 0 };
    healths.set(receiver.name, health);
    const leftMs = health.pausedUntilMs - clock.monotonicMs();
    // Not all at the same moment.
    if (leftMs > 0) return { outcome: 'Postponed', retryMs: leftMs + random() * FIRST_PAUSE_MS };
    const tried = await tryOnce(receiver, delivery, signal);
    if (tried.outcome === 'Failed') pause(health, tried.afterMs);
    else health.failures = 0;
    return outcomeOf(tried, health);
  }

  function pause(health: Health, afterMs = 0): void {
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** health.failures, LONGEST_PAUSE_MS);
    health.failures += 1;
    health.pausedUntilMs = clock.monotonicMs() + Math.min(Math.max(pauseMs, afterMs), LONGEST_PAUSE_MS);
  }

  function outcomeOf(tried: Tried, { pausedUntilMs }: Health): SendOutcome {
    if (tried.outcome === 'Delivered') return tried;
    const { outcome, because } = tried;
    const retryMs = outcome === 'Refused' ? LONGEST_PAUSE_MS : pausedUntilMs - clock.monotonicMs();
    return { outcome, because, retryMs };
  }

  async function tryOnce(receiver: ReceiverConfig, delivery: Delivery, signal: AbortSignal): Promise<Tried> {
    const access = await accessOf(receiver).catch((error: unknown) => messageOf(error));
    if (typeof access === 'string') return { outcome: 'Failed', because: access };
    const { url, ...secrets } = access;
    const content = { notice: delivery.notice, cluster: config.cluster };
    const request = { method: 'POST', ...requestFor(receiver.type, content, secrets) } as const;
    try {
      const answer = await parts.exchange(url, request, { clock, signal, timeoutMs: TIMEOUT_MS });
      return judge(answer, clock.now());
    } catch (error) {
      signal.throwIfAborted();
      return { outcome: 'Failed', because: describeNetworkError(error).message };
    }
  }

  async function accessOf({ url, urlFile, keyFile, tokenFile }: ReceiverConfig): Promise<Access> {
    const secretFile = keyFile ?? tokenFile;
    const [address, secret] = await Promise.all([
      url ?? readText(urlFile ?? ''),
      secretFile === undefined ? undefined : readText(secretFile),
    ]);
    return { url: address, secret };
  }

  async function readText(path: string): Promise<string> {
    const text = (await parts.readFile(path)).trim();
    if (text === '') throw new Error(`the file ${path} is empty`);
    return text;
  }
}

interface Access extends ReceiverSecrets {
  readonly url: string;
}

type Tried =
  | { readonly outcome: 'Delivered' }
  | { readonly outcome: 'Refused' | 'Failed'; readonly because: string; readonly afterMs?: number };

/** The body of an answer may quote the request: only its status is reported. */
function judge({ status, headers }: ExchangeAnswer, now: Date): Tried {
  if (status >= 200 && status <= 299) return { outcome: 'Delivered' };
  const because = `it answered with status ${status}`;
  if (OF_THE_NOTICE.includes(status)) return { outcome: 'Refused', because };
  const afterMs = readRetryAfterMs(headers.get('retry-after'), now);
  return { outcome: 'Failed', because, ...optional('afterMs', afterMs) };
}
