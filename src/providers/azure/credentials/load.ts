/** Loads tokens as the tools of Azure find them: by a client secret, by workload identity, or of the managed identity of this machine. */
import { readEndpoint } from '../../cloud/endpoint.ts';
import type { CloudProviderOptions } from '../../cloud/options.ts';
import { type AccessToken, noCredentialsError, type TokenLimits } from './access-token.ts';
import { loadOfManagedIdentity } from './managed-identity.ts';
import { type ClientProof, loadByTokenService } from './token-service.ts';

type Env = CloudProviderOptions['env'];

/** A server of tokens is near. */
const LOAD_MS = 10_000;
const AUTHORITY = 'https://login.microsoftonline.com';
const METADATA_SERVICE = 'http://169.254.169.254';

/** Returns the way to load them. Which it is depends on the environment only, so that a failure never falls back to another identity. */
export function tokenLoader(
  { env, clock, timeoutMs = LOAD_MS }: Pick<CloudProviderOptions, 'env' | 'clock' | 'timeoutMs'>,
  audience: string,
): () => Promise<AccessToken> {
  const limits: TokenLimits = { clock, timeoutMs };
  const [tenant, clientId] = [env['AZURE_TENANT_ID'], env['AZURE_CLIENT_ID']];
  const proof = proofOf(env);
  if (!proof && env['AZURE_CLIENT_CERTIFICATE_PATH']) {
    return () => Promise.reject(noCredentialsError('AZURE_CLIENT_CERTIFICATE_PATH is not supported'));
  }
  if (!proof) {
    const url = readEndpoint(env, 'AZURE_POD_IDENTITY_AUTHORITY_HOST', METADATA_SERVICE);
    return () => loadOfManagedIdentity({ url, clientId: clientId || undefined }, audience, limits);
  }
  if (!tenant || !clientId) {
    const name = proof.type === 'Secret' ? 'AZURE_CLIENT_SECRET' : 'AZURE_FEDERATED_TOKEN_FILE';
    const why = `${name} is set without AZURE_TENANT_ID and AZURE_CLIENT_ID`;
    return () => Promise.reject(noCredentialsError(why));
  }
  const authority = readEndpoint(env, 'AZURE_AUTHORITY_HOST', AUTHORITY);
  return () => loadByTokenService({ authority, tenant, clientId, proof }, audience, limits);
}

function proofOf(env: Env): ClientProof | undefined {
  const [secret, file] = [env['AZURE_CLIENT_SECRET'], env['AZURE_FEDERATED_TOKEN_FILE']];
  if (secret) return { type: 'Secret', secret };
  return file ? { type: 'TokenFile', file } : undefined;
}
