/** Defines access tokens of Azure, and parses them as the token service and the metadata service write them. Pure. */
import { parseRecord, textAt, valueAt } from '../../../kube/objects/json.ts';
import type { Clock } from '../../../os/clock.ts';
import { ProviderError } from '../../contract.ts';

export interface AccessToken {
  /** A secret. */
  readonly token: string;
  readonly expiresAt: Date;
}

/** Ends by itself: a server of tokens is near, or does not exist. */
export interface TokenLimits {
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** The token service writes the seconds as a number, the metadata service as a text. The message never quotes the answer: it is secret. */
export function parseAccessToken(body: string, from: string, now: Date): AccessToken {
  const json = parseRecord(body);
  const token = textAt(json, 'access_token');
  const seconds = Number(valueAt(json, 'expires_in') ?? Number.NaN);
  if (!token || !Number.isFinite(seconds) || seconds <= 0) {
    throw new ProviderError('Retryable', `the answer of ${from} has no token`, { reason: 'BadAnswer' });
  }
  return { token, expiresAt: new Date(now.getTime() + seconds * 1000) };
}

export function noCredentialsError(why: string): ProviderError {
  const hint =
    'Set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, use workload identity, or give this machine a managed identity';
  return new ProviderError('Auth', `no credentials of Azure: ${why}. ${hint}`, { reason: 'NoCredentials' });
}
