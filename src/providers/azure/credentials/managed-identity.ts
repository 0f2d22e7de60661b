/** Gets tokens of the managed identity of the virtual machine that this process runs on, from its metadata service. */
import { type ExchangeAnswer, exchange } from '../../../os/net/exchange.ts';
import { ProviderError } from '../../contract.ts';
import { type AccessToken, noCredentialsError, parseAccessToken, type TokenLimits } from './access-token.ts';

export interface ManagedIdentity {
  /** An origin, such as http://169.254.169.254 */
  readonly url: string;
  /** The identity that is meant, where the machine has several. */
  readonly clientId: string | undefined;
}

const API_VERSION = '2018-02-01';

/** Returns a token for the API at this address. */
export async function loadOfManagedIdentity(
  { url, clientId }: ManagedIdentity,
  audience: string,
  limits: TokenLimits,
): Promise<AccessToken> {
  const query = new URLSearchParams({
    'api-version': API_VERSION,
    resource: `${audience}/`,
    ...(clientId === undefined ? {} : { client_id: clientId }),
  });
  const signal = new AbortController().signal;
  // The header is what other programs on the machine cannot make a browser or a proxy send.
  const request = { method: 'GET', headers: { metadata: 'true', accept: 'application/json' } } as const;
  const target = `${url}/metadata/identity/oauth2/token?${query.toString()}`;
  const answer = await exchange(target, request, { ...limits, signal }).catch(() => {
    throw noCredentialsError(`the metadata service does not answer at ${url}`);
  });
  if (answer.status !== 200) throw refusal(answer);
  return parseAccessToken(answer.body, 'the metadata service', limits.clock.now());
}

/** The status 400 is the answer without such an identity; 404 and 410 are those of a service that is being updated, for up to 70 s. */
function refusal({ status }: ExchangeAnswer): ProviderError {
  const isMissing = status === 400 || status === 403;
  if (isMissing) return noCredentialsError('this machine has no such managed identity');
  return new ProviderError('Retryable', `the metadata service answered ${status}`, {
    reason: 'NoCredentials',
  });
}
