/** Gets tokens from the token service of Microsoft Entra: for a client secret, or for the token that the cluster gives to the pod. */
import { parseRecord, textAt } from '../../../kube/objects/json.ts';
import { type ExchangeAnswer, exchange } from '../../../os/net/exchange.ts';
import { toNetworkError } from '../../cloud/failures.ts';
import { readTokenFile } from '../../cloud/token-file.ts';
import { ProviderError } from '../../contract.ts';
import { type AccessToken, parseAccessToken, type TokenLimits } from './access-token.ts';

export interface ServicePrincipal {
  /** An origin, such as https://login.microsoftonline.com */
  readonly authority: string;
  readonly tenant: string;
  readonly clientId: string;
  readonly proof: ClientProof;
}

export type ClientProof =
  | { readonly type: 'Secret'; readonly secret: string }
  /** The kubelet replaces the file before its token expires: it is read each time. */
  | { readonly type: 'TokenFile'; readonly file: string };

const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Returns a token for the API at this address. */
export async function loadByTokenService(
  { authority, tenant, clientId, proof }: ServicePrincipal,
  audience: string,
  limits: TokenLimits,
): Promise<AccessToken> {
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    scope: `${audience}/.default`,
    ...(await formProof(proof)),
  });
  const url = `${authority}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`;
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
  const request = { method: 'POST', headers, body: form.toString() } as const;
  const signal = new AbortController().signal;
  const answer = await exchange(url, request, { ...limits, signal }).catch((error: unknown) => {
    throw toNetworkError(error, 'Retryable');
  });
  if (answer.status !== 200) throw refusal(answer);
  return parseAccessToken(answer.body, 'the token service', limits.clock.now());
}

async function formProof(proof: ClientProof): Promise<Readonly<Record<string, string>>> {
  if (proof.type === 'Secret') return { client_secret: proof.secret };
  return {
    client_assertion_type: JWT_BEARER,
    client_assertion: await readTokenFile('AZURE_FEDERATED_TOKEN_FILE', proof.file),
  };
}

/** Whatever the token service refuses is about the identity. */
function refusal({ status, body }: ExchangeAnswer): ProviderError {
  if (status >= 500 || status === 429 || status === 408) {
    const message = `the token service answered ${status}`;
    return new ProviderError('Retryable', message, { reason: 'NoCredentials' });
  }
  const { error, code } = readRefusal(body);
  const why = code === undefined ? error : `${error}, ${code}`;
  const hint = 'Check AZURE_TENANT_ID and AZURE_CLIENT_ID, and the secret or the federated credential';
  return new ProviderError('Auth', `the token service refused: ${why}. ${hint}`, {
    reason: code ?? 'NoCredentials',
  });
}

/** Reads the number of the text only: the rest names the client. */
function readRefusal(body: string): { readonly error: string; readonly code: string | undefined } {
  const json = parseRecord(body);
  const [code] = /\bAADSTS\d{1,9}\b/.exec(textAt(json, 'error_description') ?? '') ?? [];
  return { error: textAt(json, 'error')?.slice(0, 60) ?? 'no reason was given', code };
}
