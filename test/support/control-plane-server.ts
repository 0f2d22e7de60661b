/** One real kube-apiserver with its own key prefix in the etcd of the run. */
import { mkdtemp, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Client } from '../../src/kube/client/client.ts';
import { connect } from '../../src/kube/client/connect.ts';
import { NAMESPACES } from '../../src/kube/objects/core-kinds.ts';
import { isLocalError } from '../../src/local/errors.ts';
import { ADMIN, ensureClusterPki, issueClientCertificate } from '../../src/local/pki/authority.ts';
import type { CertificatePair } from '../../src/local/pki/certificate.ts';
import { formatKubeconfig } from '../../src/local/pki/kubeconfig.ts';
import type { Principal } from '../../src/local/pki/principal.ts';
import { findAdvertisedAddress, listServerAddresses, localUrl } from '../../src/local/processes/addresses.ts';
import { createApiServerCommand, LOOPBACK } from '../../src/local/processes/commands.ts';
import { launchProcess } from '../../src/local/processes/launch.ts';
import { PRIVATE_MODE, writeFileAtomic } from '../../src/os/files.ts';
import { findFreePort, isPortFree } from '../../src/os/net/ports.ts';
import { stopProcess } from '../../src/os/process/child.ts';
import type { ProcessIdentity } from '../../src/os/process/identity.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { type Addition, additionSince, preload, restore, snapshot } from './control-plane-etcd.ts';
import { forget, note, type Run, withLazyGc } from './control-plane-run.ts';
import { eventually } from './eventually.ts';

export interface ApiServerOptions {
  /** 0.0.0.0 for real nodes. Default: only this machine. */
  readonly bindAddress?: string;
  /** More names and addresses in the server's certificate. */
  readonly names?: readonly string[];
  /** More flags of kube-apiserver. */
  readonly flags?: readonly string[];
  /** Objects that it starts with. */
  readonly preloaded?: Addition;
}

/** What another process needs to use a server that runs. */
export interface ServerAddress {
  readonly folder: string;
  readonly port: number;
  readonly identity: ProcessIdentity;
}

export interface ApiServer {
  readonly url: string;
  readonly caFile: string;
  readonly caPem: string;
  /** Path of a kubeconfig of the administrator. */
  readonly kubeconfig: string;
  /** The administrator's. */
  readonly client: Client;
  /** Path of the server's log. */
  readonly logFile: string;
  /** Path of kubectl. */
  readonly kubectl: string;
  /** Holds the CA (ca.crt; ca.pem with its key) and the key of ServiceAccounts (sa.key). */
  readonly pkiFolder: string;
  certificateFor(principal: Principal): CertificatePair;
  /** Path of a kubeconfig whose user is that principal, by certificate. */
  kubeconfigFor(principal: Principal): Promise<string>;
  /** From now on `wipe` restores the current data (CRDs, for example). Initially it restores an empty server. */
  keep(): Promise<void>;
  /** Removes everything written since. */
  wipe(): Promise<void>;
  /** Everything created since, for another server to start with. */
  created(): Promise<Addition>;
  /** Undefined while it does not run. */
  address(): ServerAddress | undefined;
  /** Ends the process, as a crash or a shutdown does. `start` restarts it on the same port with the same data. */
  kill(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

const START_MS = 300_000;
const TRIES = 3;
const clock = createSystemClock();

export async function startServer(run: Run, options: ApiServerOptions = {}): Promise<ApiServer> {
  for (let tried = 1; ; tried += 1) {
    const port = await findFreePort();
    try {
      return await startOn(run, port, options);
    } catch (error) {
      // Another process took the port between the check and the start: use another one.
      const lost = isLocalError(error, 'Exited') && !(await isPortFree(port));
      if (!lost || tried === TRIES) throw error;
    }
  }
}

async function startOn(run: Run, port: number, options: ApiServerOptions): Promise<ApiServer> {
  const folder = await mkdtemp(join(run.folder, 'server-'));
  return await openServer(run, { folder, port }, options);
}

/** A server without options that another process of this run started. */
export async function adoptServer(run: Run, address: ServerAddress): Promise<ApiServer> {
  return await openServer(run, address, {});
}

const OWN_NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** A new server creates them a moment after it is ready. A wipe to a state before that would remove them for a minute. */
async function hasNamespaces(client: Client): Promise<true | undefined> {
  const { items } = await client.list(NAMESPACES);
  const names = items.map(({ metadata }) => metadata.name);
  return OWN_NAMESPACES.every((name) => names.includes(name)) || undefined;
}

async function openServer(
  run: Run,
  { folder, port, ...running }: Pick<ServerAddress, 'folder' | 'port'> & Partial<ServerAddress>,
  options: ApiServerOptions,
): Promise<ApiServer> {
  const name = basename(folder);
  const pkiFolder = join(folder, 'pki');
  const etcdPrefix = `/${name}`;
  const { bindAddress = LOOPBACK } = options;
  const names = [...(options.names ?? []), ...listServerAddresses(bindAddress)];
  const { authority, admin } = await ensureClusterPki({ folder: pkiFolder, name, names, now: clock.now() });
  const url = localUrl(bindAddress, port);
  const logFile = join(folder, 'kube-apiserver.log');
  const command = withLazyGc(
    createApiServerCommand((program) => join(run.binaries, program), {
      pkiFolder,
      etcdPkiFolder: run.etcd.pkiFolder,
      port,
      bindAddress,
      advertiseAddress: findAdvertisedAddress(bindAddress),
      etcdUrls: [run.etcd.url],
      etcdPrefix,
      ...(options.flags ? { extra: options.flags } : {}),
    }),
  );

  let { identity } = running;
  let made = 0;
  if (options.preloaded) await preload(run.etcd, etcdPrefix, options.preloaded);
  await start();
  const kubeconfig = await kubeconfigFor(ADMIN);
  const client = await connect({ kubeconfig });
  await eventually(() => hasNamespaces(client), 'the API server has no namespaces', START_MS);
  let kept = await snapshot(run.etcd, etcdPrefix);

  return {
    url,
    caFile: join(pkiFolder, 'ca.crt'),
    caPem: authority.certPem,
    kubeconfig,
    client,
    logFile,
    kubectl: join(run.binaries, 'kubectl'),
    pkiFolder,
    certificateFor: (principal) => issueClientCertificate(authority, principal, clock.now()),
    kubeconfigFor,
    async keep() {
      kept = await snapshot(run.etcd, etcdPrefix);
    },
    async wipe() {
      await restore(run.etcd, etcdPrefix, kept);
    },
    created: () => additionSince(run.etcd, etcdPrefix, kept),
    address: () => identity && { folder, port, identity },
    kill,
    start,
    async stop() {
      await client.close();
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };

  async function start(): Promise<void> {
    if (identity) return;
    identity = await launchProcess({
      command,
      logFile,
      endpoint: { url: `${url}/readyz`, caPem: authority.certPem, client: admin },
      clock,
      timeoutMs: START_MS,
      onStarted: (started) => note(run, started),
    });
  }

  async function kill(signal: 'SIGTERM' | 'SIGKILL' = 'SIGKILL'): Promise<void> {
    if (!identity) return;
    // Test data need no graceful shutdown, and a graceful shutdown waits for open watches.
    await stopProcess(identity, clock, signal === 'SIGKILL' ? 0 : undefined);
    await forget(run, identity);
    identity = undefined;
  }

  async function kubeconfigFor(principal: Principal): Promise<string> {
    const certificate = issueClientCertificate(authority, principal, clock.now());
    const path = join(folder, `${principal.user.replaceAll(/[^\w.-]/g, '_')}-${(made += 1)}.kubeconfig`);
    const access = { name, server: url, caPem: authority.certPem, user: principal.user, client: certificate };
    await writeFileAtomic(path, formatKubeconfig([access]), PRIVATE_MODE);
    return path;
  }
}
