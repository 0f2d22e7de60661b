/** A real API server with `kubenode controllers` in several processes, and hosts with simulated agents that join by themselves. */
import { type ChildProcess, execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { runSimulatedAgent, type SimulatedAgentOptions } from '../../../src/agent/simulate/agent.ts';
import { connectSimulated } from '../../../src/agent/simulate/connect.ts';
import { MACHINE_SETS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine, MachineSet } from '../../../src/api/generated/types.ts';
import {
  ANNOTATION_CONFIRM_DELETE,
  agentUser,
  NAMESPACE,
  PRINCIPAL_CONTROLLERS,
  serviceAccountUser,
  TAINT_NOT_INITIALIZED,
} from '../../../src/api/names.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { isKubeError } from '../../../src/kube/client/errors.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createPrincipal } from '../../../src/local/pki/principal.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { systemRandom } from '../../../src/os/system-random.ts';
import { node } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { follow } from '../../support/kube/follow.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { ACCOUNTS, applyFleetDefault, patchNodeStatus, readPolicy } from '../defender/objects.ts';
import { killed, startControllers } from '../defender/processes.ts';

/** Tighter limits would make a test wait for them. */
export const POLICY = {
  scope: { nodeSelector: { all: true } },
  concurrency: [{ name: 'many', per: 'Cluster', risks: ['Node', 'Machine'], max: 100 }],
  counting: { lingerSeconds: 0, smallPool: { below: 1, max: 100 } },
  zones: { haltPercent: 100, minNodes: 1000 },
  ruleWaves: { waves: ['100%'], soakSeconds: 0 },
};

/** Runs the agent of one host until the signal. */
export type RunAgent = (options: SimulatedAgentOptions, signal: AbortSignal) => Promise<void>;

/** What starts one process of `kubenode controllers`. */
export type OpenControllers = (installed: InstalledServer) => Promise<() => ChildProcess>;

export interface MachineCluster {
  readonly installed: InstalledServer;
  readonly admin: Client;
  readonly kubeconfig: string;
  start(processes: number): void;
  /** Another one is started in its place. */
  killOne(): Promise<void>;
  /** The one that holds the Lease. Another one is started in its place. */
  killLeader(): Promise<void>;
  /** Engages or releases the kill switch. */
  setStopped(isStopped: boolean): Promise<void>;
  kubectl(...args: string[]): Promise<string>;
  machines(): Promise<readonly Machine[]>;
  machine(name: string): Promise<Machine | undefined>;
  nodes(): Promise<readonly string[]>;
  set(name: string): Promise<MachineSet>;
  /** As a person does: with the confirmation that the policy asks for. */
  deleteMachine(name: string): Promise<void>;
  stop(): Promise<void>;
}

export const CONTROLLERS = { user: serviceAccountUser(PRINCIPAL_CONTROLLERS), groups: ACCOUNTS };

export async function startMachineCluster(
  runAgent: RunAgent = runSimulatedAgent,
  open?: OpenControllers,
): Promise<MachineCluster> {
  const installed = await startInstalledServer();
  const admin = installed.server.client;
  await applyFleetDefault(installed, POLICY);
  const kubeconfig = await installed.server.kubeconfigFor(CONTROLLERS);
  const startProcess = open ? await open(installed) : () => startControllers(kubeconfig);
  const processes = new Set<ChildProcess>();
  let isStopping = false;
  const stopHosts = await runHosts(installed, runAgent);
  const list = async (): Promise<readonly Machine[]> => (await admin.list<Machine>(MACHINES)).items;
  return {
    installed,
    admin,
    kubeconfig,
    start: (count) => {
      for (let index = 0; index < count; index += 1) supervise();
    },
    killOne: async () => {
      const [one] = processes;
      if (one) await killed(one);
    },
    killLeader: async () => {
      const lease = await admin.get(LEASES, { namespace: NAMESPACE, name: 'kubenode-controllers' });
      const holder = textAt(lease, 'spec', 'holderIdentity') ?? '';
      const leader = [...processes].find(({ pid }) => holder.includes(`-${pid}-`));
      if (!leader) throw new Error(`no process of this test holds the Lease: ${holder}`);
      await killed(leader);
    },
    setStopped: async (engaged) => {
      const killSwitch = { engaged, reason: 'a test', by: 'a test' };
      await applyFleetDefault(installed, { ...POLICY, ...(engaged ? { killSwitch } : {}) });
      await policyIsRead(admin);
    },
    kubectl: async (...args) => {
      const env = { ...process.env, KUBECONFIG: installed.server.kubeconfig };
      return (await promisify(execFile)(installed.server.kubectl, args, { env })).stdout;
    },
    machines: list,
    machine: (name) =>
      admin.get<Machine>(MACHINES, { name }).catch((error: unknown) => {
        if (!isKubeError(error, 'NotFound')) throw error;
        return undefined;
      }),
    nodes: async () => (await admin.list(NODES)).items.map(({ metadata }) => metadata.name).toSorted(),
    set: (name) => admin.get<MachineSet>(MACHINE_SETS, { name }),
    deleteMachine: async (name) => {
      const { uid = '' } = (await admin.get<Machine>(MACHINES, { name })).metadata;
      const body = { metadata: { annotations: { [ANNOTATION_CONFIRM_DELETE]: uid } } };
      await admin.patch(MACHINES, { name }, { type: 'merge', body });
      await admin.delete(MACHINES, { name }, { uid });
    },
    stop: async () => {
      isStopping = true;
      await Promise.all([...processes].map(killed));
      await stopHosts();
      await installed.stop();
    },
  };

  /** A process that ends, such as one whose Lease was not renewed in time on a busy machine, is started again. */
  function supervise(): void {
    const started = startProcess();
    processes.add(started);
    started.once('exit', () => {
      processes.delete(started);
      if (!isStopping) supervise();
    });
  }
}

/** The Defender decides by a policy as soon as its status is that of this generation. */
async function policyIsRead(admin: Client): Promise<void> {
  const isRead = async (): Promise<true | undefined> => {
    const { metadata, status } = await readPolicy(admin);
    return status?.observedGeneration === metadata.generation || undefined;
  };
  await eventually(isRead, 'the Defender did not read its policy');
}

interface Host {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** A new host for each Machine, by its UID: an agent, and a kubelet that registers its Node once. */
async function runHosts(installed: InstalledServer, runAgent: RunAgent): Promise<() => Promise<void>> {
  const hosts = new Map<string, Host>();
  const clock = createSystemClock();
  const ending = new Set<Promise<void>>();
  const machines = await follow<Machine>(installed.server.client, MACHINES);
  const unsubscribe = machines.store.subscribe({ added: begin, removed: end });
  return async () => {
    unsubscribe();
    await machines.stop();
    for (const host of hosts.values()) host.stop.abort();
    await Promise.all([...ending, ...[...hosts.values()].map(({ ended }) => ended)]);
  };

  function begin({ metadata: { name, uid = '', deletionTimestamp } }: Machine): void {
    if (deletionTimestamp === undefined) hosts.set(uid, newHost(name));
  }

  function end({ metadata: { uid = '' } }: Machine): void {
    const host = hosts.get(uid);
    if (!host) return;
    hosts.delete(uid);
    host.stop.abort();
    ending.add(host.ended);
  }

  function newHost(name: string): Host {
    const own = new AbortController();
    return { stop: own, ended: join(name, own.signal) };
  }

  async function join(name: string, signal: AbortSignal): Promise<void> {
    await Promise.all(ending);
    if (signal.aborted) return;
    const { url, caPem } = installed.server;
    await registerNode(installed.server.client, name);
    const { certPem, keyPem } = installed.server.certificateFor(createPrincipal(agentUser(name)));
    const pem = { ca: caPem, cert: certPem, key: keyPem };
    const agent = connectSimulated({ ...pem, server: url, clock });
    try {
      const parts = { machine: name, client: agent, version: '0.0.1', clock, random: systemRandom };
      await runAgent({ ...parts, log: memoryLog() }, signal);
    } finally {
      await agent.close();
    }
  }
}

/** The Node of an earlier host of this name may be there for a moment: its Machine was deleted, and the controller deletes the Node. */
async function registerNode(client: Client, name: string): Promise<void> {
  const { status, ...its } = node(name);
  const taints = [{ key: TAINT_NOT_INITIALIZED, effect: 'NoSchedule' }];
  const create = async (): Promise<true | undefined> => {
    try {
      await client.create(NODES, { ...its, spec: { taints } });
      return true;
    } catch (error) {
      if (isKubeError(error, 'AlreadyExists')) return undefined;
      throw error;
    }
  };
  await eventually(create, `the Node of an earlier host is not deleted: ${name}`);
  await patchNodeStatus(client, name, status);
}

export function machineSetObject(name: string, replicas: number): KubeObject {
  const template = {
    infra: { provider: 'local' },
    host: { type: 'sandbox' },
    node: { labels: { pool: name } },
  };
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'MachineSet',
    metadata: { name },
    spec: { replicas, template },
  };
}
