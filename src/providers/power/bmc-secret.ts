/**
 * Reads the account of a BMC. A commit can name any address and any Secret: the Secret itself names the BMCs that its password may be sent
 * to.
 */
import type { Machine, MachineBMC } from '../../api/generated/types.ts';
import { NAMESPACE } from '../../api/names.ts';
import { readSecret } from '../../api/secrets/read.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError, unlessMissing } from '../../kube/client/errors.ts';
import { SECRETS } from '../../kube/objects/core-kinds.ts';
import { ProviderError } from '../contract.ts';
import { type BmcEndpoint, hostOf } from '../redfish/connection.ts';
import type { BmcCredentials } from '../redfish/session.ts';

/** Reads Secrets by name only. */
export type BmcSecretClient = Pick<Client, 'get'>;

export interface BmcSecretRequest {
  readonly machine: Machine;
  readonly bmc: MachineBMC;
  readonly endpoint: Pick<BmcEndpoint, 'host' | 'port'>;
}

/** Throws a SecretError for a Secret that is missing or does not permit its use. */
export async function readBmcSecret(
  { machine, bmc, endpoint }: BmcSecretRequest,
  client: BmcSecretClient,
  signal: AbortSignal,
): Promise<BmcCredentials> {
  const { name } = bmc.credentialsRef;
  const secret = await unlessMissing(client.get(SECRETS, { name, namespace: NAMESPACE }, { signal })).catch(
    (error: unknown) => {
      throw toPowerError(error);
    },
  );
  const user = `bmc.credentialsRef of Machine ${machine.metadata.name}`;
  const read = (key: string): string =>
    readSecret({ get: () => secret }, { name, key, use: 'bmc', user }, { host: hostOf(endpoint) });
  return { username: read('username').trim(), password: read('password').replace(/\r?\n$/, '') };
}

function toPowerError(error: unknown): unknown {
  if (!isKubeError(error)) return error;
  const code = isKubeError(error, 'Forbidden', 'Unauthorized') ? 'Auth' : 'Retryable';
  return new ProviderError(code, error.message, { cause: error });
}
