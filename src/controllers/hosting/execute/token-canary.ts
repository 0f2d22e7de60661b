/** Proves by which key an API server signs the tokens of ServiceAccounts: it reads the key once, when it starts. */
import { NAMESPACE, PRINCIPAL_CONTROLLERS } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { SERVICE_ACCOUNTS } from '../../../kube/objects/core-kinds.ts';
import { textAt } from '../../../kube/objects/json.ts';
import { keyIdOf } from '../inside/clients.ts';

/** The shortest life that Kubernetes permits. The token is stored nowhere. */
const LIFE_SECONDS = 600;

/** Rejects where a new token is not signed by this key: every client would accept it, and only its header shows the difference. */
export async function runTokenCanary(
  client: Pick<Client, 'create'>,
  keyId: string,
  signal: AbortSignal,
): Promise<void> {
  const request = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: { name: PRINCIPAL_CONTROLLERS, namespace: NAMESPACE },
    spec: { expirationSeconds: LIFE_SECONDS },
  };
  const made = await client.create(SERVICE_ACCOUNTS, request, { subresource: 'token', signal });
  if (keyIdOf(textAt(made, 'status', 'token') ?? '') === keyId) return;
  throw new Error(OTHER_KEY);
}

export const OTHER_KEY =
  'it signs tokens by another key than that of the rotation, which it reads when it starts: start it again, a pod by deleting it';
