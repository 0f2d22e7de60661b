/** Reads the credentials of the RAM role of the instance that this process runs on, from its metadata service in its safer mode. */
import { parseRecord } from '../../../kube/objects/json.ts';
import { type ExchangeAnswer, type ExchangeRequest, exchange } from '../../../os/net/exchange.ts';
import { ProviderError } from '../../contract.ts';
import { type AlibabaCredentials, type LoadLimits, temporaryCredentials } from './temporary.ts';

export interface InstanceRole {
  readonly url: string;
  /** Undefined: the service tells which role the instance has. */
  readonly role: string | undefined;
}

/** A token of the service is used for two requests, and then no more. */
const TOKEN_SECONDS = '60';
const ROLE = /^[\w.@-]{1,64}$/;

export async function loadOfInstance(
  { url, role }: InstanceRole,
  limits: LoadLimits,
): Promise<AlibabaCredentials> {
  const ask = askService(url, limits);
  const ttl = { 'x-aliyun-ecs-metadata-token-ttl-seconds': TOKEN_SECONDS };
  const token = await ask('/latest/api/token', { method: 'PUT', headers: ttl });
  const headers = { 'x-aliyun-ecs-metadata-token': token };
  const folder = '/latest/meta-data/ram/security-credentials/';
  const name = role ?? (await ask(folder, { method: 'GET', headers })).trim();
  if (!ROLE.test(name)) throw noRole('this instance has no RAM role');
  const text = await ask(`${folder}${name}`, { method: 'GET', headers });
  return temporaryCredentials(parseRecord(text), 'the metadata service');
}

function askService(
  origin: string,
  limits: LoadLimits,
): (path: string, request: ExchangeRequest) => Promise<string> {
  return async (path, request) => {
    const signal = new AbortController().signal;
    const answer = await exchange(`${origin}${path}`, request, { ...limits, signal }).catch(() => {
      throw noRole(`the metadata service does not answer at ${origin}`);
    });
    return bodyOf(answer);
  };
}

function bodyOf({ status, body }: ExchangeAnswer): string {
  if (status === 200) return body;
  if (status === 404) throw noRole('this instance has no such RAM role');
  throw new ProviderError('Retryable', `the metadata service answered ${status}`, {
    reason: 'NoCredentials',
  });
}

function noRole(why: string): ProviderError {
  const hint =
    'Set ALIBABA_CLOUD_ACCESS_KEY_ID and ALIBABA_CLOUD_ACCESS_KEY_SECRET, use RRSA, or attach a RAM role to this instance';
  return new ProviderError('Auth', `no credentials of Alibaba Cloud: ${why}. ${hint}`, {
    reason: 'NoCredentials',
  });
}
