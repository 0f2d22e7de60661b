/** The real core manager of Cluster API, beside an API server of a test: its CRDs, its webhooks and its controllers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { resourceOf } from '../../../src/api/install/objects.ts';
import { waitUntilServed } from '../../../src/kube/client/served.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import {
  type CertificatePair,
  createAuthority,
  issueCertificate,
} from '../../../src/local/pki/certificate.ts';
import { findFreePort } from '../../../src/os/net/ports.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import type { ApiServer } from '../control-plane.ts';
import { eventually } from '../eventually.ts';
import { builtProgram, type GoProgram, whyNotBuilt } from '../node-kit/go-program.ts';
import { tempFolder } from '../temp.ts';
import { CLUSTER_API_VERSION, clusterApiModule } from './crds.ts';

const CORE: GoProgram = {
  program: 'cluster-api-core',
  version: CLUSTER_API_VERSION,
  source: fileURLToPath(new URL('./programs', import.meta.url)),
  package: 'sigs.k8s.io/cluster-api/core',
  settings: [],
};
const GATES = 'RuntimeSDK=true,InPlaceUpdates=true,MachinePool=false';
/** Without the conversion webhook only the newest version is written. */
const SKIPPED = 'StorageVersionMigration,CleanupManagedFields';

/** Returns its path. Built once for each machine, which takes two minutes of CPU. */
export function coreProgram(): Promise<string> {
  return builtProgram(CORE);
}

export function noCoreReason(): Promise<string | undefined> {
  return whyNotBuilt(CORE);
}

export interface CoreManager {
  readonly logFile: string;
  stop(): Promise<void>;
}

export interface CoreOptions {
  /** The variables of its process, beside those of the test. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly gates?: string;
}

/** Resolves when its webhooks answer. */
export async function startCore(
  { client, kubeconfig }: Pick<ApiServer, 'client' | 'kubeconfig'>,
  { variables = {}, gates = GATES }: CoreOptions = {},
): Promise<CoreManager> {
  const clock = createSystemClock();
  const folder = tempFolder('cluster-api');
  const authority = createAuthority('cluster-api-webhooks', clock.now(), 1);
  const pair = serverCertificate(authority);
  await writeFile(join(folder, 'tls.crt'), pair.certPem);
  await writeFile(join(folder, 'tls.key'), pair.keyPem);
  const [webhooks, health] = [await findFreePort(), await findFreePort()];
  for (const crd of await crds()) {
    await client.apply(resourceOf(crd), crd, { fieldManager: 'clusterctl' });
    const { group, names, versions } = crd.spec;
    const served = { apiVersion: `${group}/${versions.at(-1)?.name}`, kind: names.kind };
    await waitUntilServed(client, clock, served, AbortSignal.timeout(60_000));
  }
  const flags = [
    `--webhook-port=${webhooks}`,
    `--webhook-cert-dir=${folder}`,
    `--health-addr=127.0.0.1:${health}`,
  ];
  const more = [
    `--feature-gates=${gates}`,
    `--skip-crd-migration-phases=${SKIPPED}`,
    '--diagnostics-address=0',
    '--v=4',
  ];
  const env = { ...process.env, ...variables, KUBECONFIG: kubeconfig, POD_NAMESPACE: 'default' };
  const manager = spawn(await coreProgram(), [...flags, ...more], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const logFile = join(folder, 'core.log');
  const log = createWriteStream(logFile);
  manager.stdout.pipe(log);
  manager.stderr.pipe(log);
  await eventually(
    async () => ((await isReady(`http://127.0.0.1:${health}/readyz`)) ? true : undefined),
    `the core manager is not ready: ${logFile}`,
  );
  for (const object of await webhookConfigurations(webhooks, authority.certPem)) {
    await client.apply(resourceOf(object), object, { fieldManager: 'clusterctl' });
  }
  return {
    logFile,
    async stop() {
      if (manager.exitCode !== null || manager.signalCode !== null) return;
      manager.kill('SIGKILL');
      await once(manager, 'exit');
    },
  };
}

export function serverCertificate(authority: CertificatePair): CertificatePair {
  const names = ['localhost', '127.0.0.1'];
  const subject = { commonName: 'localhost' };
  return issueCertificate(authority, {
    subject,
    usage: 'server',
    names,
    now: createSystemClock().now(),
    seconds: 86_400,
  });
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

type Crd = KubeObject & {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string }[];
  };
};

/** With the labels by which providers and core find the version of a contract. */
async function crds(): Promise<readonly Crd[]> {
  const folder = join(await clusterApiModule(), 'core', 'config', 'crd');
  const { resources } = parse(await readFile(join(folder, 'kustomization.yaml'), 'utf8')) as {
    readonly resources: readonly string[];
  };
  return await Promise.all(
    resources.map(async (file) => {
      const crd = parse(await readFile(join(folder, file), 'utf8')) as Crd;
      const labels = { 'cluster.x-k8s.io/v1beta1': 'v1beta1', 'cluster.x-k8s.io/v1beta2': 'v1beta2' };
      return { ...crd, metadata: { ...crd.metadata, labels } };
    }),
  );
}

/** Their published webhooks, called at this machine instead of a Service. */
async function webhookConfigurations(port: number, ca: string): Promise<readonly KubeObject[]> {
  const file = join(await clusterApiModule(), 'core', 'config', 'webhook', 'manifests.yaml');
  const caBundle = Buffer.from(ca).toString('base64');
  return parseAllDocuments(await readFile(file, 'utf8')).map((document) => {
    const object = document.toJS() as KubeObject & { readonly webhooks: readonly Webhook[] };
    const webhooks = object.webhooks
      .filter(({ name }) => !name.includes('machinepool'))
      .map((each) => {
        const url = `https://127.0.0.1:${port}${each.clientConfig.service.path}`;
        return { ...each, clientConfig: { url, caBundle } };
      });
    return { ...object, metadata: { name: `cluster-api-${object.kind.toLowerCase()}` }, webhooks };
  });
}

interface Webhook {
  readonly name: string;
  readonly clientConfig: { readonly service: { readonly path: string } };
}
