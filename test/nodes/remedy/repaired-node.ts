/** One real node with a kubelet, a problem detector and a pod, in a cluster whose controllers repair it. */
import { problemDetector } from '../../../fleet/components/problem-detector.ts';
import {
  MACHINE_COMPONENT_SETS,
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
} from '../../../src/api/generated/resources.ts';
import type { NodeRemedierSpec, RemedyOperationJob } from '../../../src/api/generated/types.ts';
import {
  ANNOTATION_COMMIT,
  MANAGER_SYNC,
  PRINCIPAL_SYNC,
  serviceAccountUser,
} from '../../../src/api/names.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { isKubeError } from '../../../src/kube/client/errors.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { listAt, textAt } from '../../../src/kube/objects/json.ts';
import { CONTROL_PLANE_VERSION } from '../../../src/local/binaries/versions.ts';
import { ensureAccount } from '../../cluster/controllers/budgeted-pod.ts';
import { ACCOUNTS, applyFleetDefault, readLedger } from '../../cluster/defender/objects.ts';
import { type NodeCluster, startNodeCluster } from '../../support/agent/node-cluster.ts';
import { containerdComponent, kubeletComponent } from '../../support/agent/node-components.ts';
import { eventually } from '../../support/eventually.ts';
import { importImage } from '../../support/node-kit/image.ts';
import { kubeletBinary } from '../../support/node-kit/kubelet.ts';
import type { TestNode } from '../../support/node-kit.ts';
import { testIo } from '../../support/test-io.ts';
import { runWebPod } from '../rollout/workload.ts';

export interface RepairedNode extends AsyncDisposable {
  readonly cluster: NodeCluster;
  readonly client: Client;
  readonly node: TestNode;
  /** As sync does. */
  applyRule(name: string, spec: NodeRemedierSpec): Promise<void>;
  /** Status of a condition of the Node. */
  nodeCondition(type: string): Promise<string | undefined>;
  /** When it was last reported. */
  heartbeatMs(type: string): Promise<number>;
  jobs(): Promise<readonly RemedyOperationJob[]>;
  /** Rule, rung and outcome of each job that ended. */
  ended(): Promise<readonly string[]>;
  /** Ids of grants that are not settled. */
  openGrants(): Promise<readonly string[]>;
  /** Rejects with all that tells why it is not so. */
  until(what: string, isSo: () => Promise<boolean>): Promise<void>;
}

export const REPAIRED_COMMIT = '4f2c9e1a77b0';
const REPAIR_MS = 300_000;
const KUBELET = CONTROL_PLANE_VERSION.slice(1);
/** For a cluster of one node. */
export const ONE_NODE_POLICY = {
  scope: { nodeSelector: { all: true } },
  concurrency: [{ name: 'one', per: 'Cluster', risks: ['Node', 'Machine'], max: 1 }],
  counting: { lingerSeconds: 0, smallPool: { below: 1, max: 1 } },
  blockers: { minNodeAgeSeconds: 0 },
  zones: { haltPercent: 100, minNodes: 1000 },
};

export interface RepairedNodeOptions {
  readonly name: string;
  /** Label `pool` of the Machine. */
  readonly pool: string;
  /** Before its components are declared. */
  readonly prepare?: (node: TestNode) => Promise<void>;
}

export async function startRepairedNode(options: RepairedNodeOptions): Promise<RepairedNode> {
  const { name, pool, prepare } = options;
  const cluster = await startNodeCluster({ kubernetes: ['disruption'] });
  try {
    const { client } = cluster.installed.server;
    await applyFleetDefault(cluster.installed, ONE_NODE_POLICY);
    await cluster.declareMachine(name, [], { pool });
    const node = await cluster.boot(name);
    await prepare?.(node);
    await cluster.publish(containerdComponent('1.0.0'));
    await cluster.publish(kubeletComponent(KUBELET, await cluster.serve(await kubeletBinary())));
    await cluster.publish({ ...problemDetector, commitAfterSeconds: 2 });
    await declareComponents(client, pool);
    const repaired = repairedNode(cluster, node, name);
    await repaired.until('no Ready', async () => (await repaired.nodeCondition('Ready')) === 'True');
    const isWatched = async (): Promise<boolean> =>
      (await repaired.nodeCondition('FrequentTaskHung')) === 'False';
    await repaired.until('no detector', isWatched);
    await importImage(node);
    await ensureAccount(client);
    await runWebPod(client, name);
    return repaired;
  } catch (error) {
    await cluster[Symbol.asyncDispose]();
    throw error;
  }
}

/** `node`: a node of the cluster, whose Machine has this name. */
export function repairedNode(cluster: NodeCluster, node: TestNode, name: string): RepairedNode {
  const { client } = cluster.installed.server;

  async function jobs(): Promise<readonly RemedyOperationJob[]> {
    return (await client.list<RemedyOperationJob>(REMEDY_OPERATION_JOBS)).items;
  }

  async function condition(type: string): Promise<unknown> {
    const found = await client.get(NODES, { name }).catch((error: unknown) => {
      if (isKubeError(error, 'NotFound')) return undefined;
      throw error;
    });
    return listAt(found, 'status', 'conditions').find((each) => textAt(each, 'type') === type);
  }

  /** As a person would ask. */
  async function why(...about: readonly string[]): Promise<string> {
    const io = testIo({ env: { KUBECONFIG: cluster.installed.server.kubeconfig } });
    await runCommandLine(io, ['why', ...about]);
    return io.stdout + io.stderr;
  }

  return {
    cluster,
    client,
    node,
    jobs,
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
    async applyRule(rule, spec) {
      const sync = await cluster.installed.as(serviceAccountUser(PRINCIPAL_SYNC), ACCOUNTS);
      const metadata = { name: rule, annotations: { [ANNOTATION_COMMIT]: REPAIRED_COMMIT } };
      const object = { apiVersion: API, kind: 'NodeRemedier', metadata, spec };
      await sync.apply(NODE_REMEDIERS, object, { fieldManager: MANAGER_SYNC, force: true });
    },
    nodeCondition: async (type) => textAt(await condition(type), 'status'),
    heartbeatMs: async (type) => Date.parse(textAt(await condition(type), 'lastHeartbeatTime') ?? ''),
    async ended() {
      return (await jobs()).flatMap(({ spec, status }) =>
        status?.outcome ? [`${spec.cause.remedier} ${spec.rung.name} ${status.outcome.class}`] : [],
      );
    },
    async openGrants() {
      const { grants } = (await readLedger(client)).spec;
      return Object.values(grants).flatMap(({ id, state }) => (state === 'Settled' ? [] : id));
    },
    async until(what, isSo) {
      const poll = async (): Promise<true | undefined> => (await isSo()) || undefined;
      await eventually(poll, what, REPAIR_MS).catch(async (error: unknown) => {
        const explained = await Promise.all([why('node', name), why('rollout', SET)]);
        const lines = ['--no-pager', '--lines=40', '--unit=kubenode-agent'];
        // It may be off.
        const log = await node.run('journalctl', ...lines).then(({ stdout }) => stdout, String);
        throw new Error([String(error), ...explained, JSON.stringify(await jobs()), log].join('\n'), {
          cause: error,
        });
      });
    },
  };
}

const API = 'kubenode.dev/v1alpha1';
const SET = 'nodes';

async function declareComponents(client: Client, pool: string): Promise<void> {
  const names = ['containerd-1.0.0', `kubelet-${KUBELET}`, `problem-detector-${problemDetector.version}`];
  const components = names.map((componentRef) => ({
    name: componentRef.slice(0, componentRef.lastIndexOf('-')),
    componentRef,
  }));
  const spec = { machineSelector: { matchLabels: { pool } }, components };
  const object = { apiVersion: API, kind: 'MachineComponentSet', metadata: { name: SET }, spec };
  await client.apply(MACHINE_COMPONENT_SETS, object, { fieldManager: 'test', force: true });
}
