/** Loads credentials as the tools of Alibaba Cloud find them: an access key, a token of the cluster (RRSA), or the RAM role of this instance. */
import { readEndpoint } from '../../cloud/endpoint.ts';
import type { CloudProviderOptions } from '../../cloud/options.ts';
import { ProviderError } from '../../contract.ts';
import { loadOfInstance } from './ecs-role.ts';
import { loadByOidc, type OidcRole } from './oidc.ts';
import type { AlibabaCredentials, LoadLimits } from './temporary.ts';

/** A server of credentials is near. */
const LOAD_MS = 10_000;
const METADATA_SERVICE = 'http://100.100.100.200';

/** Returns the way to load them. Which it is depends on the environment only, so that a failure never falls back to another identity. */
export function credentialLoader(
  { env, clock, timeoutMs = LOAD_MS }: CloudProviderOptions,
  region: string,
): () => Promise<AlibabaCredentials> {
  const limits: LoadLimits = { clock, timeoutMs };
  const key = accessKeyOf(env);
  if (key) return () => Promise.resolve(key);
  const role = oidcRoleOf(env, region);
  if (role) return () => loadByOidc(role, limits);
  if (env['ALIBABA_CLOUD_ECS_METADATA_DISABLED'] === 'true') return () => Promise.reject(noCredentials());
  const url = readEndpoint(env, 'ALIBABA_CLOUD_ECS_METADATA_SERVICE_URL', METADATA_SERVICE);
  return () => loadOfInstance({ url, role: env['ALIBABA_CLOUD_ECS_METADATA'] }, limits);
}

type Env = CloudProviderOptions['env'];

function accessKeyOf(env: Env): AlibabaCredentials | undefined {
  const accessKeyId = env['ALIBABA_CLOUD_ACCESS_KEY_ID'];
  const accessKeySecret = env['ALIBABA_CLOUD_ACCESS_KEY_SECRET'];
  const securityToken = env['ALIBABA_CLOUD_SECURITY_TOKEN'];
  if (!accessKeyId || !accessKeySecret) return undefined;
  return { accessKeyId, accessKeySecret, ...(securityToken ? { securityToken } : {}) };
}

function oidcRoleOf(env: Env, region: string): OidcRole | undefined {
  const [roleArn, providerArn] = [env['ALIBABA_CLOUD_ROLE_ARN'], env['ALIBABA_CLOUD_OIDC_PROVIDER_ARN']];
  const tokenFile = env['ALIBABA_CLOUD_OIDC_TOKEN_FILE'];
  if (!roleArn || !providerArn || !tokenFile) return undefined;
  const endpoint = readEndpoint(env, 'ALIBABA_CLOUD_STS_ENDPOINT', `https://sts.${region}.aliyuncs.com`);
  const session = env['ALIBABA_CLOUD_ROLE_SESSION_NAME'] ?? 'kubenode';
  return { endpoint, roleArn, providerArn, tokenFile, session };
}

function noCredentials(): ProviderError {
  const message =
    'no credentials of Alibaba Cloud. Set ALIBABA_CLOUD_ACCESS_KEY_ID and ALIBABA_CLOUD_ACCESS_KEY_SECRET, or use RRSA';
  return new ProviderError('Auth', message, { reason: 'NoCredentials' });
}
