/**
 * A cluster with the real core of Cluster API, which decides, replaces and calls the hooks, and a process of controllers that answers them. Agents
 * run on hosts in memory, and the instances are Nodes of a small infrastructure provider.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
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
  MANAGER_INSTALL,
  PRINCIPAL_CONTROLLERS,
  serviceAccountUser,
} from '../../../src/api/names.ts';
import { clusterApiRoles } from '../../../src/api/roles/all.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { valueAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { createAuthority } from '../../../src/local/pki/certificate.ts';
import { createPrincipal } from '../../../src/local/pki/principal.ts';
import { findFreePort } from '../../../src/os/net/ports.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { systemRandom } from '../../../src/os/system-random.ts';
import { serverCertificate, startCore } from '../../support/cluster-api/core.ts';
import { startInfrastructure } from '../../support/cluster-api/infrastructure.ts';
import {
  createWorkloadCluster,
  DEPLOYMENTS,
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

const EXTENSIONS: Resource = {
  ...theirKind('ExtensionConfig'),
  group: 'runtime.cluster.x-k8s.io',
  namespaced: false,
};
const STARTED = 'update extension of Cluster API started';
export const REPLICAS = 2;
/** Cluster API asks every 10 seconds, and one machine after the other. */
export const UPDATED = { interval: 500 };

export interface ComponentVersions {
  readonly name: string;
  /** The specs by version: the first is that of the set. */
  readonly specs: Readonly<Record<string, object>>;
}

export interface UpdateBedOptions {
  readonly components: readonly ComponentVersions[];
  /** The version of Kubernetes with which machines begin. */
  readonly version: string;
  /** CRDs of further bootstrap providers, and the kinds of their configs. */
  readonly crds?: readonly KubeObject[];
  readonly bootstrapKinds?: readonly Resource[];
  /** A server with kubenode, which is stopped with the bed; by default a new one. */
  readonly installed?: InstalledServer;
  /** How many machines a deployment has. */
  readonly replicas?: number;
}

export interface UpdateBed {
  readonly admin: Client;
  readonly workload: WorkloadCluster;
  /** Kills the process of the controllers, and starts another one. */
  restart(): Promise<void>;
  /** Machines with their agents, and the first version of each component. */
  createDeployment(name: string, configRef?: object): Promise<void>;
  patchDeployment(name: string, spec: object): Promise<void>;
  /** Starts the agents of Machines that have none, and returns how many Machines there are. */
  join(deployment: string): Promise<number>;
  machines(deployment: string): Promise<readonly Machine[]>;
  theirs(deployment: string): Promise<readonly KubeObject[]>;
  uids(deployment: string): Promise<readonly string[]>;
  /** What the agents report of a component as committed. */
  committed(deployment: string, component: string): Promise<readonly (string | undefined)[]>;
  assigned(deployment: string, componentRef: string): Promise<number>;
  /** Sends a request to the extension as anybody could, and returns the answer. */
  call(hook: string, body: object): Promise<unknown>;
  stop(): Promise<void>;
}

export async function startUpdateBed(options: UpdateBedOptions): Promise<UpdateBed> {
  const { components, version, crds = [], replicas = REPLICAS } = options;
  const agents = new Map<string, Promise<void>>();
  const ended = new AbortController();
  const authority = createAuthority('extension', createSystemClock().now(), 1);
  const folder = tempFolder('extension');
  const installed = options.installed ?? (await startInstalledServer());
  const admin = installed.server.client;
  for (const object of [...clusterApiRoles(true), ...crds]) {
    await admin.apply(resourceOf(object), object, { fieldManager: MANAGER_INSTALL });
  }
  await applyFleetDefault(installed, POLICY);
  const core = await startCore(installed.server);
  const provider = await startInfrastructure(admin, options.bootstrapKinds);
  const { certPem, keyPem } = serverCertificate(authority);
  await writeFile(join(folder, 'tls.crt'), certPem);
  await writeFile(join(folder, 'tls.key'), keyPem);
  const port = await findFreePort();
  let logged = '';
  let controllers = await start();
  await declareComponents();
  const workload = await createWorkloadCluster(installed.server, version);
  await register();
  return {
    admin,
    workload,
    createDeployment,
    patchDeployment,
    join: joined,
    machines,
    theirs,
    uids,
    committed,
    assigned,
    call,
    async restart() {
      await killed(controllers);
      await endLease(admin);
      controllers = await start();
    },
    async stop() {
      ended.abort();
      await killed(controllers);
      await Promise.allSettled(agents.values());
      await core.stop();
      await provider.stop();
      await installed.stop();
    },
  };

  async function call(hook: string, body: object): Promise<unknown> {
    const sent = request({
      method: 'POST',
      host: '127.0.0.1',
      port,
      path: handlerPath(hook),
      ca: authority.certPem,
    });
    sent.end(JSON.stringify(body));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return await json(response);
  }

  async function start(): Promise<ChildProcess> {
    const user = serviceAccountUser(PRINCIPAL_CONTROLLERS);
    const kubeconfig = await installed.server.kubeconfigFor({ user, groups: ACCOUNTS });
    const files = ['--extension-cert', join(folder, 'tls.crt'), '--extension-key', join(folder, 'tls.key')];
    const flags = ['--cluster-api', '--extension-port', String(port), ...files, '--log-level', 'info'];
    logged = '';
    const child = startLoggedControllers(kubeconfig, (text) => (logged += text), ...flags);
    const started = async (): Promise<true | undefined> => logged.includes(STARTED) || undefined;
    await eventually(started, 'the update extension did not start');
    return child;
  }

  async function declareComponents(): Promise<void> {
    for (const { name, specs } of components) {
      for (const [each, spec] of Object.entries(specs)) {
        const metadata = { name: `${name}-${each}` };
        await admin.create(MACHINE_COMPONENTS, {
          apiVersion: API_VERSION,
          kind: 'MachineComponent',
          metadata,
          spec,
        });
      }
    }
    const spec = {
      machineSelector: { matchLabels: { pool: 'general' } },
      components: components.map(({ name, specs }) => ({
        name,
        componentRef: `${name}-${Object.keys(specs)[0]}`,
      })),
      rollout: {
        batches: ['100%'],
        maxUnavailable: '100%',
        gate: { soakSeconds: 0, checks: [], approval: 'None' },
      },
    };
    const metadata = { name: 'general' };
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

  async function createDeployment(name: string, configRef?: object): Promise<void> {
    await workload.createDeployment(name, version, replicas, configRef);
    const hasJoined = async (): Promise<true | undefined> => (await joined(name)) === replicas || undefined;
    await eventually(hasJoined, 'not all machines are followed');
    for (const component of components) {
      const first = `${component.name}-${Object.keys(component.specs)[0]}`;
      const isCommitted = async (): Promise<true | undefined> => {
        const found = await committed(name, component.name);
        return (found.length === replicas && found.every((each) => each === first)) || undefined;
      };
      await eventually(isCommitted, `${first} is not committed on each machine`);
    }
  }

  /** Starts the agent of each Machine of kubenode, as an image with one would. */
  async function joined(deployment: string): Promise<number> {
    const items = await machines(deployment);
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
    await runSimulatedAgent(parts, ended.signal);
    await client.close();
  }

  async function machines(deployment: string): Promise<readonly Machine[]> {
    return (await admin.list<Machine>(MACHINES, machinesOf(deployment))).items;
  }

  async function theirs(deployment: string): Promise<readonly KubeObject[]> {
    return (await admin.list(THEIR_MACHINES, machinesOf(deployment))).items;
  }

  async function committed(deployment: string, component: string): Promise<readonly (string | undefined)[]> {
    return (await machines(deployment)).map(({ status }) => {
      const report = status?.components?.find(({ name }) => name === component);
      return report?.state === 'Committed' ? report.currentRef : report?.state;
    });
  }

  async function assigned(deployment: string, componentRef: string): Promise<number> {
    return (await machines(deployment)).filter(({ spec }) =>
      spec.components.some((each) => each.componentRef === componentRef),
    ).length;
  }

  async function uids(deployment: string): Promise<readonly string[]> {
    return (await theirs(deployment)).map(({ metadata }) => metadata.uid ?? '').toSorted();
  }

  async function patchDeployment(name: string, spec: object): Promise<void> {
    const body = { spec: { template: { spec } } };
    await admin.patch(DEPLOYMENTS, { namespace: WORKLOAD_NAMESPACE, name }, { type: 'merge', body });
  }
}

function handlerPath(hook: string): string {
  const name = hook.toLowerCase();
  return `/hooks.runtime.cluster.x-k8s.io/v1alpha1/${name}/kubenode-${name}`;
}

/** Those of theirs and ours have the same labels. */
function machinesOf(deployment: string): { readonly labelSelector: string } {
  return { labelSelector: `deployment=${deployment}` };
}
