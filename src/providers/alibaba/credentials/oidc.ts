/** Exchanges the token that the cluster gives to the pod for credentials of a RAM role: RRSA, AssumeRoleWithOIDC. */
import { randomUUID } from 'node:crypto';
import { valueAt } from '../../../kube/objects/json.ts';
import { exchange } from '../../../os/net/exchange.ts';
import { toNetworkError } from '../../cloud/failures.ts';
import { readTokenFile } from '../../cloud/token-file.ts';
import { ProviderError } from '../../contract.ts';
import { parseApiAnswer } from '../api/client.ts';
import { type AlibabaCredentials, type LoadLimits, temporaryCredentials } from './temporary.ts';

export interface OidcRole {
  readonly endpoint: string;
  readonly roleArn: string;
  readonly providerArn: string;
  /** The kubelet replaces the file before the token expires: it is read each time. */
  readonly tokenFile: string;
  readonly session: string;
}

export async function loadByOidc(role: OidcRole, limits: LoadLimits): Promise<AlibabaCredentials> {
  const token = await readTokenFile('ALIBABA_CLOUD_OIDC_TOKEN_FILE', role.tokenFile);
  const query = new URLSearchParams({
    Action: 'AssumeRoleWithOIDC',
    Format: 'JSON',
    Version: '2015-04-01',
    Timestamp: limits.clock
      .now()
      .toISOString()
      .replace(/\.\d+Z$/, 'Z'),
    SignatureNonce: randomUUID(),
  });
  // The token is a secret: it is in the body, where no log of requests has it.
  const body = new URLSearchParams({
    RoleArn: role.roleArn,
    OIDCProviderArn: role.providerArn,
    OIDCToken: token,
    RoleSessionName: role.session,
  });
  const headers = { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' };
  const signal = new AbortController().signal;
  const answer = await exchange(
    `${role.endpoint}/?${query.toString()}`,
    { method: 'POST', headers, body: body.toString() },
    { ...limits, signal },
  ).catch((error: unknown) => {
    throw toNetworkError(error, 'Retryable');
  });
  const json = withAuth(() => parseApiAnswer(answer, { lost: 'Retryable', now: limits.clock.now() }));
  return temporaryCredentials(valueAt(json, 'Credentials'), 'the token service');
}

/** Whatever the token service refuses is about the identity: a wrong role, provider or token. */
function withAuth<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof ProviderError) || error.code === 'Retryable') throw error;
    throw new ProviderError('Auth', `the token service refused: ${error.message}`, { reason: error.reason });
  }
}
