/** Sends requests to Azure Resource Manager. Nothing is repeated here: the caller knows what a lost answer means. */
import { type JsonRecord, parseRecord, textAt } from '../../../kube/objects/json.ts';
import type { Clock } from '../../../os/clock.ts';
import { type ExchangeAnswer, type ExchangeRequest, exchange } from '../../../os/net/exchange.ts';
import type { CredentialSource } from '../../cloud/credential-source.ts';
import { type LostAnswer, toNetworkError } from '../../cloud/failures.ts';
import { ProviderError } from '../../contract.ts';
import type { AccessToken } from '../credentials/access-token.ts';
import { toArmError } from '../errors.ts';

export interface ArmRequest {
  readonly method: ExchangeRequest['method'];
  /** Such as /subscriptions/…; or the whole URL that an answer named. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Tells what a missing answer means. Default: Retryable. */
  readonly lost?: LostAnswer;
  /** A status of an error that is an answer here. */
  readonly expected?: number;
  /** Whether it asks for the state of an operation, whose answer may have no body. */
  readonly isPoll?: boolean;
}

export interface ArmAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Empty where the answer has no body. */
  readonly json: JsonRecord;
}

export interface ArmApi {
  /** Throws ProviderError, or the reason of the signal. */
  send(request: ArmRequest, signal: AbortSignal): Promise<ArmAnswer>;
}

export interface ArmApiOptions {
  /** An origin, such as https://management.azure.com */
  readonly endpoint: string;
  readonly tokens: CredentialSource<AccessToken>;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

export function createArmApi({ endpoint, tokens, clock, timeoutMs }: ArmApiOptions): ArmApi {
  return {
    async send(request, signal) {
      const lost = request.lost ?? 'Retryable';
      const url = urlOf(request, endpoint);
      const token = await tokens.get(signal);
      const limits = { clock, signal, timeoutMs };
      const answer = await exchange(url, formExchange(request, token), limits).catch((error: unknown) => {
        signal.throwIfAborted();
        throw toNetworkError(error, lost);
      });
      if (answer.status === 401) tokens.forget(token);
      const { expected, method, isPoll = false } = request;
      const mayBeEmpty = method !== 'GET' || isPoll;
      return parseAnswer(answer, { lost, now: clock.now(), expected, mayBeEmpty });
    },
  };
}

/** Refuses a URL of another server: the token would be sent to it. */
function urlOf({ path, query = {} }: ArmRequest, origin: string): string {
  const url = URL.parse(path, origin);
  if (url?.origin !== origin) {
    const message = `Azure named an address that is not at ${origin}: it is not followed`;
    throw new ProviderError('Retryable', message, { reason: 'BadAnswer' });
  }
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.toString();
}

function formExchange({ method, headers = {}, body }: ArmRequest, { token }: AccessToken): ExchangeRequest {
  const sent = { ...headers, accept: 'application/json', authorization: `Bearer ${token}` };
  if (body === undefined) return { method, headers: sent };
  return {
    method,
    headers: { ...sent, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
}

interface ParseRules {
  readonly lost: LostAnswer;
  readonly now: Date;
  readonly expected: number | undefined;
  readonly mayBeEmpty: boolean;
}

/** Returns the JSON of a success. A login page, or half of an answer, must not look like an empty list. */
function parseAnswer(answer: ExchangeAnswer, rules: ParseRules): ArmAnswer {
  const { status, headers, body } = answer;
  const json = body === '' ? {} : parseRecord(body);
  if (status === rules.expected) return { status, headers, json: json ?? {} };
  if (status >= 400) throw refusalOf(answer, json, rules);
  if (json !== undefined && isSuccess(answer, rules)) return { status, headers, json };
  throw toNetworkError(new Error(`the answer with status ${status} is not that of Azure`), rules.lost);
}

function refusalOf(
  { status, headers }: ExchangeAnswer,
  json: JsonRecord | undefined,
  { lost, now }: ParseRules,
): ProviderError {
  const code = textAt(json, 'error', 'code') || `Status${status}`;
  const message = textAt(json, 'error', 'message') ?? '';
  return toArmError({ status, code, message, retryAfter: headers.get('retry-after') }, { lost, now });
}

function isSuccess({ status, body }: ExchangeAnswer, { mayBeEmpty }: ParseRules): boolean {
  const isBody = body !== '' || status === 202 || status === 204 || mayBeEmpty;
  return status >= 200 && status < 300 && isBody;
}
