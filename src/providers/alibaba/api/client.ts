/** Calls one RPC API of Alibaba Cloud, such as that of ECS. Nothing is repeated here: the caller knows what a lost answer means. */
import { randomUUID } from 'node:crypto';
import { type JsonRecord, parseRecord, textAt } from '../../../kube/objects/json.ts';
import type { Clock } from '../../../os/clock.ts';
import { type ExchangeAnswer, exchange } from '../../../os/net/exchange.ts';
import type { CredentialSource } from '../../cloud/credential-source.ts';
import { type LostAnswer, toNetworkError } from '../../cloud/failures.ts';
import { ProviderError } from '../../contract.ts';
import type { AlibabaCredentials } from '../credentials/temporary.ts';
import { toApiError } from '../errors.ts';
import { canonicalQuery, signRequest } from './sign.ts';

export type ApiQuery = Readonly<Record<string, string>>;

export interface AlibabaApi {
  /** Returns the answer. Throws ProviderError, or the reason of the signal. `lost` is what it means when no answer comes. */
  call(action: string, query: ApiQuery, signal: AbortSignal, lost?: LostAnswer): Promise<JsonRecord>;
}

export interface AlibabaApiOptions {
  /** Such as https://ecs.cn-hangzhou.aliyuncs.com */
  readonly endpoint: string;
  readonly version: string;
  readonly credentials: CredentialSource<AlibabaCredentials>;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

export function createAlibabaApi(options: AlibabaApiOptions): AlibabaApi {
  const { endpoint, version, credentials, clock, timeoutMs } = options;
  const { host, origin } = new URL(endpoint);
  return {
    async call(action, query, signal, lost = 'Retryable') {
      const used = await credentials.get(signal);
      const unsigned = { host, action, version, query, at: clock.now(), nonce: randomUUID() };
      const headers = { accept: 'application/json', ...signRequest(unsigned, used) };
      const url = `${origin}/?${canonicalQuery(query)}`;
      const answer = await exchangeOrFail(url, headers, { limits: { clock, signal, timeoutMs }, lost });
      try {
        return parseApiAnswer(answer, { lost, now: clock.now() });
      } catch (error) {
        if (error instanceof ProviderError && error.code === 'Auth') credentials.forget(used);
        throw error;
      }
    },
  };
}

async function exchangeOrFail(
  url: string,
  headers: Readonly<Record<string, string>>,
  { limits, lost }: { readonly limits: Parameters<typeof exchange>[2]; readonly lost: LostAnswer },
): Promise<ExchangeAnswer> {
  try {
    return await exchange(url, { method: 'POST', headers }, limits);
  } catch (error) {
    limits.signal.throwIfAborted();
    throw toNetworkError(error, lost);
  }
}

/** Returns the JSON of a success. A login page, or half of an answer, must not look like an empty list. */
export function parseApiAnswer(
  { status, headers, body }: ExchangeAnswer,
  { lost, now }: { readonly lost: LostAnswer; readonly now: Date },
): JsonRecord {
  const json = parseRecord(body);
  if (status === 200 && json !== undefined) return json;
  if (status < 400) {
    throw toNetworkError(new Error(`the answer with status ${status} is not that of the API`), lost);
  }
  const [code, message] = [textAt(json, 'Code') ?? `Status${status}`, textAt(json, 'Message') ?? ''];
  throw toApiError({ status, code, message, retryAfter: headers.get('retry-after') }, { lost, now });
}
