/** Observes a real node: by programs of the node, and by what the API server has of it. */
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine } from '../../../src/api/generated/types.ts';
import { NAMESPACE_AGENTS } from '../../../src/api/names.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import type { Condition } from '../../../src/kube/objects/conditions.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import type { AgentNode } from '../agent/agent-node.ts';
import { AGENT_UNIT, COMPONENT_UNITS, NODE_PATHS } from './breakage.ts';
import {
  type HostObservation,
  type NodeObservation,
  observationScript,
  parseObservation,
} from './observation.ts';

/** The Lease at an earlier moment, or that the node cannot reach the API server. */
export type ObservedSince = { readonly renewTime: string } | 'Cut';

export interface ChaosObserver {
  host(): Promise<HostObservation>;
  node(since: ObservedSince): Promise<NodeObservation>;
  /** Of the Lease of the agent. */
  renewTime(): Promise<string>;
}

export type NodeShell = (script: string) => Promise<string>;

interface LeaseObject extends KubeObject {
  readonly spec?: { readonly renewTime?: string };
}

interface NodeObject extends KubeObject {
  readonly status: {
    readonly conditions: readonly { readonly type: string; readonly status: string }[];
    readonly nodeInfo: { readonly bootID: string };
  };
}

const UNITS = [...Object.values(COMPONENT_UNITS), AGENT_UNIT];

/** Observes the files that the components have now. */
export async function createObserver(
  agent: AgentNode,
  name: string,
  shell: NodeShell,
): Promise<ChaosObserver> {
  const { client } = agent.installed.server;
  const script = observationScript({ paths: await findPaths(shell), units: UNITS }, NODE_PATHS.state);

  async function host(): Promise<HostObservation> {
    return parseObservation(await shell(script));
  }

  async function renewTime(): Promise<string> {
    const lease = await client.get<LeaseObject>(LEASES, { name, namespace: NAMESPACE_AGENTS });
    return lease.spec?.renewTime ?? '';
  }

  async function isNodeReady(): Promise<boolean> {
    const object = await client.get<NodeObject>(NODES, { name }).catch(() => undefined);
    const { conditions = [], nodeInfo } = object?.status ?? {};
    const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
    return isReady && nodeInfo?.bootID === (await agent.node.bootId());
  }

  return {
    host,
    renewTime,
    async node(since) {
      const found = await host();
      if (since === 'Cut') return { ...found, conditions: await storedConditions(shell) };
      const machine = await client.get<Machine>(MACHINES, { name });
      return {
        ...found,
        conditions: machine.status?.conditions ?? [],
        isAccepted: machine.status?.agent?.observedGeneration === machine.metadata.generation,
        isHeartbeatNew: (await renewTime()) !== since.renewTime,
        isNodeReady: await isNodeReady(),
      };
    },
  };
}

/** What `kubenode agent status` reads. */
async function storedConditions(shell: NodeShell): Promise<readonly Condition[]> {
  const stored = JSON.parse(await shell(`cat ${NODE_PATHS.state}/status.json`)) as {
    readonly status: { readonly conditions: readonly Condition[] };
  };
  return stored.status.conditions;
}

async function findPaths(shell: NodeShell): Promise<readonly string[]> {
  const { kubeletConfig, containerdConfig, network, current } = NODE_PATHS;
  const folder = await shell(`readlink ${current}`);
  const units = Object.values(COMPONENT_UNITS).map((unit) => `/etc/systemd/system/${unit}.service`);
  const found = await shell(
    `find ${units.map((path) => `${path} ${path}.d`).join(' ')} -type f 2> /dev/null`,
  );
  const unitFiles = found.split('\n').filter(Boolean);
  return [kubeletConfig, containerdConfig, network, current, folder, `${folder}/kubelet`, ...unitFiles];
}
