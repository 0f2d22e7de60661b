/** The token of kubenode-sync in a cluster: that of a Secret, which is valid until the Secret is deleted. */
import { LABEL_MANAGED_BY, MANAGED_BY, MANAGER_CLI, NAMESPACE, PRINCIPAL_SYNC } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError, unlessMissing } from '../../../kube/client/errors.ts';
import { SECRETS, SERVICE_ACCOUNTS } from '../../../kube/objects/core-kinds.ts';
import { textAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { Clock } from '../../../os/clock.ts';
import { CliError, EXIT } from '../../errors.ts';

export const TOKEN_SECRET = 'kubenode-sync-token';
const TYPE = 'kubernetes.io/service-account-token';
const ANNOTATION_ACCOUNT = 'kubernetes.io/service-account.name';
const WITHIN_MS = 30_000;
const INTERVAL_MS = 500;

export interface SyncToken {
  readonly token: string;
  readonly caPem: string;
}

export interface TokenContext {
  readonly client: Client;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Creates the Secret, and waits until the controllers of Kubernetes have filled it. */
export async function ensureSyncToken(context: TokenContext): Promise<SyncToken> {
  const { client, clock, signal } = context;
  await requireAccount(context);
  const end = clock.now().getTime() + WITHIN_MS;
  let found = (await findTokenSecret(context)) ?? (await createTokenSecret(context));
  for (;;) {
    checkOwner(found, client);
    const token = decoded(found, 'token');
    const caPem = decoded(found, 'ca.crt');
    if (token !== undefined && caPem !== undefined) return { token, caPem };
    if (clock.now().getTime() >= end) {
      throw new CliError('Kubernetes did not fill the Secret with a token', {
        where: `Secret ${NAMESPACE}/${TOKEN_SECRET} at ${client.server}`,
        hint: 'check that kube-controller-manager runs, with its controllers for tokens of ServiceAccounts',
        exitCode: EXIT.unavailable,
      });
    }
    await clock.sleep(INTERVAL_MS, signal);
    found = (await findTokenSecret(context)) ?? found;
  }
}

async function requireAccount({ client, signal }: TokenContext): Promise<void> {
  try {
    await client.get(SERVICE_ACCOUNTS, { name: PRINCIPAL_SYNC, namespace: NAMESPACE }, { signal });
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error;
    throw new CliError(`ServiceAccount ${NAMESPACE}/${PRINCIPAL_SYNC} does not exist`, {
      where: client.server,
      hint: 'install kubenode in this cluster first: kubenode install',
      exitCode: EXIT.badInput,
    });
  }
}

async function findTokenSecret({ client, signal }: TokenContext): Promise<KubeObject | undefined> {
  return await unlessMissing(client.get(SECRETS, { name: TOKEN_SECRET, namespace: NAMESPACE }, { signal }));
}

/** Create, not apply: a Secret that somebody made meanwhile is never changed. */
async function createTokenSecret({ client, signal }: TokenContext): Promise<KubeObject> {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: TOKEN_SECRET,
      namespace: NAMESPACE,
      labels: { [LABEL_MANAGED_BY]: MANAGED_BY },
      annotations: { [ANNOTATION_ACCOUNT]: PRINCIPAL_SYNC },
    },
    type: TYPE,
  };
  return await client.create(SECRETS, secret, { signal, fieldManager: MANAGER_CLI });
}

function checkOwner(secret: KubeObject, client: Client): void {
  const account = secret.metadata.annotations?.[ANNOTATION_ACCOUNT];
  if (textAt(secret, 'type') === TYPE && account === PRINCIPAL_SYNC) return;
  throw new CliError(`it exists, and is not a token of ${PRINCIPAL_SYNC}`, {
    where: `Secret ${NAMESPACE}/${TOKEN_SECRET} at ${client.server}`,
    hint: 'delete it, and run the command again',
    exitCode: EXIT.badInput,
  });
}

function decoded(secret: KubeObject, key: string): string | undefined {
  const text = textAt(secret, 'data', key);
  return text === undefined ? undefined : Buffer.from(text, 'base64').toString('utf8');
}
