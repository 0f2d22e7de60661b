/**
 * The update extension with the real core of Cluster API, which decides, replaces and calls the hooks. Agents run on hosts in memory, and the
 * instances are Nodes of a small infrastructure provider.
 */
import type { ChildProcess } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runSimulatedAgent } from '../../../src/agent/simulate/agent.ts';
import { connectSimulated } from '../../../src/agent/simulate/connect.ts';
import {
  MACHINE_COMPONENT_SETS,
  MACHINE_COMPONENTS,
  MACHINES,
} from '../../../src/api/generated/resources.ts';
import type { Machine } from '../../../src/api/generated/types.ts';
import { resourceOf } from '../../../src/api/install/objects.ts';
import {
  agentUser,
  MANAGER_CLUSTERAPI_UPDATE,
  MANAGER_INSTALL,
  PRINCIPAL_CONTROLLERS,
  serviceAccountUser,
} from '../../../src/api/names.ts';
import { clusterApiRoles } from '../../../src/api/roles/all.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { textAt, valueAt } from '../../../src/kube/objects/json.ts';
import type { Resource } from '../../../src/kube/objects/object.ts';
import { createAuthority } from '../../../src/local/pki/certificate.ts';
import { createPrincipal } from '../../../src/local/pki/principal.ts';
import { findFreePort } from '../../../src/os/net/ports.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { systemRandom } from '../../../src/os/system-random.ts';
import {
  type CoreManager,
  noCoreReason,
  serverCertificate,
  startCore,
} from '../../support/cluster-api/core.ts';
import { noClusterApiReason } from '../../support/cluster-api/crds.ts';
import { startInfrastructure, type TestProvider } from '../../support/cluster-api/infrastructure.ts';
import {
  createWorkloadCluster,
  DEPLOYMENTS,
  infraRef,
  THEIR_MACHINES,
  theirKind,
  WORKLOAD_NAMESPACE,
  type WorkloadCluster,
} from '../../support/cluster-api/workload-cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { tempFolder } from '../../support/temp.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { ACCOUNTS, applyFleetDefault } from '../defender/objects.ts';
import { endLease, killed, startLoggedControllers } from '../defender/processes.ts';
import { POLICY } from './machine-cluster.ts';
import { programSpec } from './rollout-fleet.ts';

const EXTENSIONS: Resource = {
  ...theirKind('ExtensionConfig'),
  group: 'runtime.cluster.x-k8s.io',
  namespaced: false,
};
const STARTED = 'update extension of Cluster API started';
const REPLICAS = 2;
const FROM = '1.36.1';
const TO = '1.36.2';
/** Cluster API asks every 10 seconds, and one machine after the other. */
const UPDATED = { timeout: 180_000, interval: 500 };
const reason = noClusterApiReason ?? (await noCoreReason());

describe.skipIf(reason)('updates in place, by the core of Cluster API', { timeout: 400_000 }, () => {
  const agents = new Map<string, Promise<void>>();
  const stop = new AbortController();
  const authority = createAuthority('extension', createSystemClock().now(), 1);
  const folder = tempFolder('extension');
  let installed: InstalledServer;
  let admin: Client;
  let workload: WorkloadCluster;
  let core: CoreManager | undefined;
  let provider: TestProvider | undefined;
  let controllers: ChildProcess | undefined;
  let port = 0;
  let logged = '';

  beforeAll(async () => {
    installed = await startInstalledServer();
    admin = installed.server.client;
    for (const object of clusterApiRoles()) {
      await admin.apply(resourceOf(object), object, { fieldManager: MANAGER_INSTALL });
    }
    await applyFleetDefault(installed, POLICY);
    core = await startCore(installed.server);
    provider = await startInfrastructure(admin);
    const { certPem, keyPem } = serverCertificate(authority);
    await writeFile(join(folder, 'tls.crt'), certPem);
    await writeFile(join(folder, 'tls.key'), keyPem);
    port = await findFreePort();
    await start();
    await declareKubelets();
    workload = await createWorkloadCluster(installed.server, FROM);
    await register();
  }, 400_000);

  afterAll(async () => {
    stop.abort();
    if (controllers) await killed(controllers);
    await Promise.allSettled(agents.values());
    await core?.stop();
    await provider?.stop();
    await installed?.stop();
  });

  it('CAP-05 CAP-06 take each machine to the new version, and replace none, also when killed in the middle', async () => {
    await createDeployment('versions');
    const before = await uids('versions');
    await patchDeployment('versions', { version: `v${TO}` });
    await expect.poll(async () => await assigned('versions', `kubelet-${TO}`), UPDATED).toBeGreaterThan(0);
    if (controllers) await killed(controllers);
    await endLease(admin);
    await start();
    await expect.poll(() => kubelets('versions'), UPDATED).toEqual([`kubelet-${TO}`, `kubelet-${TO}`]);
    await expect.poll(() => theirVersions('versions'), UPDATED).toEqual([`v${TO}`, `v${TO}`]);
    expect(await uids('versions')).toEqual(before);
    // The entry of a pin cannot be removed while its grant is there.
    await expect.poll(() => granted('versions'), UPDATED).toBe(0);
    // As the guide returns a kubelet: without the pin the set decides again.
    for (const { metadata } of (await admin.list<Machine>(MACHINES, machinesOf('versions'))).items) {
      const object = {
        apiVersion: API_VERSION,
        kind: 'Machine',
        metadata: { name: metadata.name },
        spec: {},
      };
      await admin.apply(MACHINES, object, { fieldManager: MANAGER_CLUSTERAPI_UPDATE });
    }
    await expect.poll(() => kubelets('versions'), UPDATED).toEqual([`kubelet-${FROM}`, `kubelet-${FROM}`]);
  });

  it('CAP-05 leave a change of another field to Cluster API, which replaces the machines', async () => {
    await createDeployment('sizes');
    const before = await uids('sizes');
    await workload.createTemplate('larger', { size: 'large' });
    await patchDeployment('sizes', { version: `v${TO}`, infrastructureRef: infraRef('larger') });
    const replaced = async (): Promise<boolean> => {
      const present = await uids('sizes');
      return present.length === REPLICAS && present.every((uid) => !before.includes(uid));
    };
    await expect.poll(replaced, UPDATED).toBe(true);
  });

  async function start(): Promise<void> {
    const user = serviceAccountUser(PRINCIPAL_CONTROLLERS);
    const kubeconfig = await installed.server.kubeconfigFor({ user, groups: ACCOUNTS });
    const files = ['--extension-cert', join(folder, 'tls.crt'), '--extension-key', join(folder, 'tls.key')];
    const flags = ['--cluster-api', '--extension-port', String(port), ...files, '--log-level', 'info'];
    logged = '';
    controllers = startLoggedControllers(kubeconfig, (text) => (logged += text), ...flags);
    const started = async (): Promise<true | undefined> => logged.includes(STARTED) || undefined;
    await eventually(started, 'the update extension did not start');
  }

  async function declareKubelets(): Promise<void> {
    for (const version of [FROM, TO]) {
      const spec = programSpec('kubelet', version);
      const metadata = { name: `kubelet-${version}` };
      await admin.create(MACHINE_COMPONENTS, {
        apiVersion: API_VERSION,
        kind: 'MachineComponent',
        metadata,
        spec,
      });
    }
    const spec = {
      machineSelector: { matchLabels: { pool: 'general' } },
      components: [{ name: 'kubelet', componentRef: `kubelet-${FROM}` }],
      rollout: {
        batches: ['100%'],
        maxUnavailable: '100%',
        gate: { soakSeconds: 0, checks: [], approval: 'None' },
      },
    };
    const metadata = { name: 'kubelets' };
    await admin.create(MACHINE_COMPONENT_SETS, {
      apiVersion: API_VERSION,
      kind: 'MachineComponentSet',
      metadata,
      spec,
    });
  }

  async function register(): Promise<void> {
    const caBundle = Buffer.from(authority.certPem).toString('base64');
    const spec = { clientConfig: { url: `https://127.0.0.1:${port}`, caBundle } };
    const apiVersion = 'runtime.cluster.x-k8s.io/v1beta2';
    const metadata = { name: 'kubenode' };
    await admin.create(EXTENSIONS, { apiVersion, kind: 'ExtensionConfig', metadata, spec });
    const discovered = async (): Promise<true | undefined> =>
      valueAt(await admin.get(EXTENSIONS, metadata), 'status', 'handlers', 2) !== undefined || undefined;
    await eventually(discovered, 'the hooks were not discovered');
  }

  /** Machines with their agents, and the first version of the kubelet. */
  async function createDeployment(name: string): Promise<void> {
    await workload.createDeployment(name, FROM, REPLICAS);
    await expect.poll(() => joined(name), UPDATED).toBe(REPLICAS);
    await expect.poll(() => kubelets(name), UPDATED).toEqual([`kubelet-${FROM}`, `kubelet-${FROM}`]);
  }

  /** Starts the agent of each Machine of kubenode, as an image with one would. */
  async function joined(deployment: string): Promise<number> {
    const { items } = await admin.list<Machine>(MACHINES, machinesOf(deployment));
    const started = items.map(({ metadata }) => metadata.name).filter((name) => !agents.has(name));
    for (const name of started) agents.set(name, runAgent(name));
    return items.length;
  }

  async function runAgent(machine: string): Promise<void> {
    const { url: server, caPem: ca } = installed.server;
    const clock = createSystemClock();
    const { certPem: cert, keyPem: key } = installed.server.certificateFor(
      createPrincipal(agentUser(machine)),
    );
    const client = connectSimulated({ server, ca, cert, key, clock });
    const parts = { machine, client, version: '0.0.1', clock, random: systemRandom, log: memoryLog() };
    await runSimulatedAgent(parts, stop.signal);
    await client.close();
  }

  /** What the agents report as committed. */
  async function kubelets(deployment: string): Promise<readonly (string | undefined)[]> {
    const { items } = await admin.list<Machine>(MACHINES, machinesOf(deployment));
    return items.map(({ status }) => {
      const report = status?.components?.find(({ name }) => name === 'kubelet');
      return report?.state === 'Committed' ? report.currentRef : report?.state;
    });
  }

  async function assigned(deployment: string, componentRef: string): Promise<number> {
    const { items } = await admin.list<Machine>(MACHINES, machinesOf(deployment));
    return items.filter(({ spec }) => spec.components.some((each) => each.componentRef === componentRef))
      .length;
  }

  /** Counts the machines with a grant in an entry. */
  async function granted(deployment: string): Promise<number> {
    const { items } = await admin.list<Machine>(MACHINES, machinesOf(deployment));
    return items.filter(({ spec }) => spec.components.some(({ grant }) => grant !== undefined)).length;
  }

  async function uids(deployment: string): Promise<readonly string[]> {
    return (await admin.list(THEIR_MACHINES, machinesOf(deployment))).items
      .map(({ metadata }) => metadata.uid ?? '')
      .toSorted();
  }

  async function theirVersions(deployment: string): Promise<readonly (string | undefined)[]> {
    return (await admin.list(THEIR_MACHINES, machinesOf(deployment))).items.map((each) =>
      textAt(each, 'spec', 'version'),
    );
  }

  async function patchDeployment(name: string, spec: object): Promise<void> {
    const body = { spec: { template: { spec } } };
    await admin.patch(DEPLOYMENTS, { namespace: WORKLOAD_NAMESPACE, name }, { type: 'merge', body });
  }
});

/** Those of theirs and ours have the same labels. */
function machinesOf(deployment: string): { readonly labelSelector: string } {
  return { labelSelector: `deployment=${deployment}` };
}
