/** A new API server with kubenode installed, and clients that authenticate as its principals by certificate. */
import { install, installation } from '../../../src/api/install/install.ts';
import type { Impersonation } from '../../../src/kube/auth/credentials.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { connect } from '../../../src/kube/client/connect.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import {
  type ApiServer,
  startApiServer,
  storedInstallation,
  takeApiServer,
} from '../../support/control-plane.ts';
import type { ApiServerOptions } from '../../support/control-plane-server.ts';

export interface InstalledServer {
  readonly server: ApiServer;
  /** A client for this user. Cached, and closed with the server. */
  as(user: string, groups?: readonly string[], impersonate?: Impersonation): Promise<Client>;
  stop(): Promise<void>;
}

export async function startInstalledServer(
  objects: readonly KubeObject[] = installation(),
  options: ApiServerOptions = {},
): Promise<InstalledServer> {
  const stored = await storedInstallation(objects);
  const isOrdinary = Object.keys(options).length === 0;
  const server = isOrdinary
    ? await takeApiServer(stored.digest, () => startWithObjects(stored, objects))
    : await startWithObjects(stored, objects, options);
  return withClients(server);
}

/** Adds clients of principals to a server that has kubenode. */
export function withClients(server: ApiServer): InstalledServer {
  const clients = new Map<string, Promise<Client>>();
  return {
    server,
    as(user, groups = [], impersonate) {
      const key = JSON.stringify([user, groups, impersonate]);
      const client = clients.get(key) ?? clientFor(server, { user, groups }, impersonate);
      clients.set(key, client);
      return client;
    },
    async stop() {
      for (const client of clients.values()) await (await client).close();
      await server.stop();
    },
  };
}

/** The first file of a run installs the objects; the servers of the others start with what that one stored. */
async function startWithObjects(
  stored: Awaited<ReturnType<typeof storedInstallation>>,
  objects: readonly KubeObject[],
  options: ApiServerOptions = {},
): Promise<ApiServer> {
  const { addition } = stored;
  const server = await startApiServer({ ...options, ...(addition ? { preloaded: addition } : {}) });
  try {
    await installAll(server, addition ? objects.filter(isAdmission) : objects);
    if (!addition) await stored.store((await server.created()).filter(([key]) => !ADMISSION_KEY.test(key)));
    await server.keep();
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** A server that starts with a policy may look for the kind of its parameters before it serves it, and again only after 30 s. */
const ADMISSION_KEY = /^\/validatingadmissionpolic/;

function isAdmission({ kind }: KubeObject): boolean {
  return kind.startsWith('ValidatingAdmissionPolicy');
}

export async function installAll(server: ApiServer, objects: readonly KubeObject[]): Promise<void> {
  const results = await install(server.client, { clock: createSystemClock(), objects });
  const failed = results.flatMap(({ error }) => error ?? []);
  if (failed.length > 0) throw new AggregateError(failed, 'the installation failed');
}

async function clientFor(
  server: ApiServer,
  principal: { readonly user: string; readonly groups: readonly string[] },
  impersonate?: Impersonation,
): Promise<Client> {
  const kubeconfig = await server.kubeconfigFor(principal);
  return await connect(impersonate === undefined ? { kubeconfig } : { kubeconfig, impersonate });
}

export const CRD: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};

/** Counts results by outcome. */
export function counts(results: readonly { readonly outcome: string }[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const { outcome } of results) found[outcome] = (found[outcome] ?? 0) + 1;
  return found;
}
