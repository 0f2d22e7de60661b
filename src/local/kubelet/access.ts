/** The client of the stand-in, from the kubeconfig that the agent keeps: JSON that names files. Renewed ones are read again. */
import { readFile } from 'node:fs/promises';
import { createCredentials } from '../../kube/auth/credentials.ts';
import type { Client } from '../../kube/client/client.ts';
import { createRestClient } from '../../kube/client/rest-client.ts';
import { textAt } from '../../kube/objects/json.ts';
import { optional } from '../../kube/objects/optional.ts';
import { createHttpsTransport } from '../../kube/transport/https.ts';
import type { Clock } from '../../os/clock.ts';

export async function connectAsKubelet(kubeconfig: string, clock: Clock): Promise<Client> {
  const { server, ...files } = parseIdentityKubeconfig(await readFile(kubeconfig, 'utf8'));
  const credentials = createCredentials(files, { clock, origin: kubeconfig });
  const connection = { server, credentials, userAgent: 'kubenode-stand-in-kubelet' };
  return createRestClient(createHttpsTransport(connection), { server, clock });
}

export interface IdentityAccess {
  readonly server: string;
  readonly certFile: string;
  readonly keyFile: string;
  readonly caFile?: string;
}

export function parseIdentityKubeconfig(text: string): IdentityAccess {
  const config: unknown = JSON.parse(text);
  const server = textAt(config, 'clusters', 0, 'cluster', 'server');
  const certFile = textAt(config, 'users', 0, 'user', 'client-certificate');
  const keyFile = textAt(config, 'users', 0, 'user', 'client-key');
  if (server === undefined || certFile === undefined || keyFile === undefined) {
    throw new Error('expected a kubeconfig with a server and the files of a client certificate');
  }
  return {
    server,
    certFile,
    keyFile,
    ...optional('caFile', textAt(config, 'clusters', 0, 'cluster', 'certificate-authority')),
  };
}
