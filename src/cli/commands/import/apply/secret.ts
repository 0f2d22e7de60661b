/** Sees to it that the Secret with the SSH key is there before Machines refer to it. It is made only when a person asks for that. */
import { ANNOTATION_SECRET_USE, NAMESPACE } from '../../../../api/names.ts';
import { readSecret } from '../../../../api/secrets/read.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { isKubeError } from '../../../../kube/client/errors.ts';
import { SECRETS } from '../../../../kube/objects/core-kinds.ts';
import { textAt } from '../../../../kube/objects/json.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import { messageOf } from '../../../../os/errors.ts';
import { CliError, EXIT } from '../../../errors.ts';
import type { SecretTexts } from '../secrets.ts';

const KEY = 'ssh-privatekey';
const USE = 'ssh';

export interface SecretRequest {
  readonly name: string;
  /** The content of a Secret to create. Undefined: it must be there. */
  readonly create?: SecretTexts;
  /** The hosts to which the password of sudo may be sent. */
  readonly hosts: readonly string[];
  readonly signal: AbortSignal;
}

/** Returns a warning when this user may not read the Secret. */
export async function requireSecret(client: Client, request: SecretRequest): Promise<string | undefined> {
  const { name, create, signal } = request;
  const existing = await findSecret(client, name, signal);
  if (existing === 'Forbidden') {
    if (create) throw refusal(name, 'this user may not read it, so it is not created');
    return `Secret ${NAMESPACE}/${name} could not be checked: this user may not read it`;
  }
  if (existing === undefined && create) await createSecret(client, { ...request, create });
  else checkSecret(existing, request);
  return undefined;
}

async function findSecret(
  client: Client,
  name: string,
  signal: AbortSignal,
): Promise<KubeObject | 'Forbidden' | undefined> {
  try {
    return await client.get(SECRETS, { name, namespace: NAMESPACE }, { signal });
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    if (isKubeError(error, 'Forbidden')) return 'Forbidden';
    throw error;
  }
}

/** Create, not apply: a Secret that somebody made meanwhile is never overwritten. */
async function createSecret(
  client: Client,
  { name, create, hosts, signal }: SecretRequest & { readonly create: SecretTexts },
): Promise<void> {
  const { privateKey, passphrase, sudoPassword } = create;
  const use = sudoPassword === undefined ? USE : `${USE}; ${hosts.join(', ')}`;
  const stringData = {
    [KEY]: privateKey,
    ...(passphrase !== undefined && { 'ssh-passphrase': passphrase }),
    ...(sudoPassword !== undefined && { 'sudo-password': sudoPassword }),
  };
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: NAMESPACE, annotations: { [ANNOTATION_SECRET_USE]: use } },
    type: 'kubernetes.io/ssh-auth',
    stringData,
  };
  try {
    await client.create(SECRETS, secret, { signal });
  } catch (error) {
    // The message of the server could quote what it refuses.
    if (!isKubeError(error, 'Invalid')) throw error;
    throw refusal(name, 'the API server refuses its content');
  }
}

function checkSecret(existing: KubeObject | undefined, { name, create }: SecretRequest): void {
  const stored = storedKey(existing, name);
  if (create === undefined || stored.trim() === create.privateKey.trim()) return;
  throw refusal(name, 'it exists with another key, and is not overwritten', 'name another one with --secret');
}

function storedKey(existing: KubeObject | undefined, name: string): string {
  try {
    const reference = {
      name,
      key: KEY,
      use: USE,
      user: 'spec.import.credentialsRef of the Machines',
    } as const;
    return readSecret({ get: () => existing }, reference, 'nowhere');
  } catch (error) {
    throw refusal(
      name,
      messageOf(error),
      textAt(existing, 'metadata', 'name') === undefined
        ? `add --create-secret to make it of the key of --identity, or: kubectl -n ${NAMESPACE} create secret generic ${name} --type kubernetes.io/ssh-auth --from-file ${KEY}=FILE`
        : undefined,
    );
  }
}

function refusal(
  name: string,
  reason: string,
  hint = 'correct the Secret, or name another one with --secret',
): CliError {
  return new CliError(`no Machine was applied: ${reason}`, {
    where: `Secret ${NAMESPACE}/${name}`,
    hint,
    exitCode: EXIT.badInput,
  });
}
