/** Reads who in a hosted cluster holds something that its authorities or its signing key made. */
import type { Client } from '../../../kube/client/client.ts';
import { NODES, SECRETS } from '../../../kube/objects/core-kinds.ts';
import { textAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';

export interface ClusterClients {
  /** The names of all Nodes: each kubelet has a client certificate. */
  readonly nodes: readonly string[];
  /** The Secrets with a token of a ServiceAccount, which never ends by itself. */
  readonly tokens: readonly TokenSecret[];
}

export interface TokenSecret {
  /** Namespace and name. */
  readonly name: string;
  /** The ID of the key that signed it. Undefined: it has none, or is not filled yet. */
  readonly keyId: string | undefined;
}

const TOKEN_TYPE = 'kubernetes.io/service-account-token';

export async function readClients(client: Client, signal: AbortSignal): Promise<ClusterClients> {
  const [nodes, secrets] = await Promise.all([
    client.list(NODES, { signal }),
    client.list(SECRETS, { fieldSelector: `type=${TOKEN_TYPE}`, signal }),
  ]);
  return {
    nodes: nodes.items.map(({ metadata }) => metadata.name).toSorted(),
    tokens: secrets.items.map(toToken).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

/** Only the header of the token is read, which is not secret. */
function toToken(secret: KubeObject): TokenSecret {
  const { namespace = '', name } = secret.metadata;
  const token = Buffer.from(textAt(secret, 'data', 'token') ?? '', 'base64').toString('utf8');
  return { name: `${namespace}/${name}`, keyId: keyIdOf(token) };
}

export function keyIdOf(token: string): string | undefined {
  const [header = ''] = token.split('.');
  try {
    return textAt(JSON.parse(Buffer.from(header, 'base64url').toString('utf8')), 'kid');
  } catch {
    return undefined;
  }
}
