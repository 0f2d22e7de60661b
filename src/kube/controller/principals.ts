/** One client for each identity as which controllers write, each fenced by the Lease at the moment that its bytes leave. */
import type { Impersonation } from '../auth/credentials.ts';
import type { Client } from '../client/client.ts';
import type { ObjectName } from '../objects/object.ts';

export interface PrincipalOptions {
  readonly fence: () => void;
  readonly impersonate?: Impersonation;
}

/** `(principal) => connect({ kubeconfig, ...principal })` */
export type ConnectPrincipal = (principal: PrincipalOptions) => Promise<Client>;

export interface PrincipalClients {
  /** Without a ServiceAccount, the identity of the process. */
  clientFor(serviceAccount: ObjectName | undefined): Promise<Client>;
  close(): Promise<void>;
}

export function createPrincipalClients(connect: ConnectPrincipal, fence: () => void): PrincipalClients {
  const clients = new Map<string, Promise<Client>>();
  return {
    clientFor: (serviceAccount) => {
      const impersonate = serviceAccount && impersonateServiceAccount(serviceAccount);
      const user = impersonate?.user ?? '';
      const client = clients.get(user) ?? connect({ fence, ...(impersonate ? { impersonate } : {}) });
      clients.set(user, client);
      return client;
    },
    close: async () => {
      await Promise.all([...clients.values()].map(async (client) => (await client).close()));
    },
  };
}

/**
 * Without groups: the API server itself gives a ServiceAccount the groups of ServiceAccounts and of its namespace, and
 * the right to impersonate groups, which would be the right to be an administrator, is not needed.
 */
export function impersonateServiceAccount({ namespace, name }: ObjectName): Impersonation {
  if (namespace === undefined) throw new Error(`ServiceAccount ${name}: namespace is missing`);
  return { user: `system:serviceaccount:${namespace}:${name}` };
}
