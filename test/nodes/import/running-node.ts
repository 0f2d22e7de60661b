/** A real Node that a person has joined, with pods that run, and what is declared and asked about it while it is imported. */
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine, MachineComponentReport } from '../../../src/api/generated/types.ts';
import { PRINCIPAL_COMPONENTSET, PRINCIPAL_DEFENDER } from '../../../src/api/names.ts';
import { NODES, PODS } from '../../../src/kube/objects/core-kinds.ts';
import { listAt, textAt, valueAt } from '../../../src/kube/objects/json.ts';
import { createPrincipal } from '../../../src/local/pki/principal.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { ensureAccount, WEB } from '../../cluster/controllers/budgeted-pod.ts';
import { type BareHost, type NodeCluster, startNodeCluster } from '../../support/agent/node-cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { createGranter } from '../../support/granter.ts';
import { IMAGE, importImage } from '../../support/node-kit/image.ts';
import { KUBELET_CONFIGURATION, kubeletBinary } from '../../support/node-kit/kubelet.ts';

export type Entry = Machine['spec']['components'][number];

export interface RunningNode extends AsyncDisposable {
  readonly cluster: NodeCluster;
  readonly host: BareHost;
  /** What was there before the import. */
  readonly before: NodeState;
  state(): Promise<NodeState>;
  /** The process, the start and the restarts of units. */
  units(...names: readonly string[]): Promise<string>;
  machine(): Promise<Machine>;
  /** Waits until a component is reported like this. */
  until(component: string, isSo: (found: MachineComponentReport) => boolean): Promise<void>;
  /** Gives the entries of the Machine the grants that they wait for. */
  grant(): Promise<void>;
}

export interface NodeState {
  readonly files: string;
  readonly units: string;
  /** The containers that run: id, start and number of restarts. */
  readonly pods: readonly string[];
  readonly node: unknown;
}

const WITHIN_MS = 600_000;
const FILES = [
  '/etc/systemd/system/kubelet.service',
  '/etc/containerd/config.toml',
  '/etc/kubernetes/kubelet.json',
];

export async function startRunningNode(name: string, pods: number): Promise<RunningNode> {
  const cluster = await startNodeCluster({ imports: true });
  try {
    const host = await cluster.bootJoined(name);
    const parts = { cluster, host, name };
    await importImage(host.node);
    await ensureAccount(cluster.installed.server.client);
    await eventually(async () => (await isReady(parts)) || undefined, 'the Node is not Ready', WITHIN_MS);
    await Promise.all(Array.from({ length: pods }, (_, index) => createPod(parts, `pod-${index}`)));
    const running = async (): Promise<true | undefined> =>
      (await containers(parts)).length === pods || undefined;
    await eventually(running, 'the pods do not run', WITHIN_MS);
    const machine = (): Promise<Machine> => cluster.installed.server.client.get<Machine>(MACHINES, { name });
    return {
      cluster,
      host,
      before: await stateOf(parts),
      state: () => stateOf(parts),
      units: (...names) => units(parts, names),
      machine,
      until: (component, isSo) => until({ ...parts, machine }, component, isSo),
      grant: () => grant(parts),
      [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
    };
  } catch (error) {
    await cluster[Symbol.asyncDispose]();
    throw error;
  }
}

interface Parts {
  readonly cluster: NodeCluster;
  readonly host: BareHost;
  readonly name: string;
}

async function isReady({ cluster, name }: Parts): Promise<boolean> {
  const node = await cluster.installed.server.client.get(NODES, { name }).catch(() => undefined);
  return listAt(node, 'status', 'conditions').some(
    (each) => textAt(each, 'type') === 'Ready' && textAt(each, 'status') === 'True',
  );
}

async function createPod({ cluster, name: nodeName }: Parts, name: string): Promise<void> {
  await cluster.installed.server.client.create(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: WEB.namespace },
    spec: {
      nodeName,
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      containers: [{ name: 'main', image: IMAGE, imagePullPolicy: 'Never' }],
    },
  });
}

async function stateOf(parts: Parts): Promise<NodeState> {
  const { cluster, host, name } = parts;
  const node = await cluster.installed.server.client.get(NODES, { name });
  return {
    files: (await host.node.run('sha256sum', ...FILES)).stdout,
    units: await units(parts, ['kubelet', 'containerd']),
    pods: await containers(parts),
    node: valueAt(node, 'spec'),
  };
}

async function containers({ cluster }: Parts): Promise<readonly string[]> {
  const { items } = await cluster.installed.server.client.list(PODS);
  return items
    .flatMap((pod) => listAt(pod, 'status', 'containerStatuses'))
    .filter((each) => textAt(each, 'state', 'running', 'startedAt') !== undefined)
    .map((each) =>
      JSON.stringify([valueAt(each, 'containerID'), valueAt(each, 'state'), valueAt(each, 'restartCount')]),
    )
    .toSorted();
}

async function units({ host }: Parts, names: readonly string[]): Promise<string> {
  const properties = '--property=Id,MainPID,ExecMainStartTimestampMonotonic,NRestarts';
  return (await host.node.run('systemctl', 'show', properties, ...names)).stdout;
}

async function until(
  { host, machine }: Parts & Pick<RunningNode, 'machine'>,
  component: string,
  isSo: (found: MachineComponentReport) => boolean,
): Promise<void> {
  const found = async (): Promise<true | undefined> => {
    const each = (await machine()).status?.components?.find(({ name }) => name === component);
    return (each !== undefined && isSo(each)) || undefined;
  };
  await eventually(found, `${component} is not as expected`, WITHIN_MS).catch(async (error: unknown) => {
    const { status } = await machine();
    const logs = await host.node.run('journalctl', '--no-pager', '--lines=60', '--unit=kubenode-agent');
    throw new Error(`${String(error)}\n${JSON.stringify(status, undefined, 1)}\n${logs.stdout}`, {
      cause: error,
    });
  });
}

async function grant({ cluster, name }: Parts): Promise<void> {
  const [defender, componentset] = await Promise.all(
    [PRINCIPAL_DEFENDER, PRINCIPAL_COMPONENTSET].map((principal) => {
      const { user, groups } = createPrincipal(principal);
      return cluster.installed.as(user, groups);
    }),
  );
  if (!defender || !componentset) throw new Error('not signed in');
  await createGranter({ defender, componentset, clock: createSystemClock() }).grantEntries(name);
}

/** The version of the kubelet that the Node runs, with the same files, and with its own identity or one of the agent. */
export async function kubeletVersion(
  { cluster, host }: RunningNode,
  identity: 'None' | 'Kubelet' = 'None',
): Promise<object> {
  const artifact = await cluster.serve(await kubeletBinary());
  const kubeconfig = identity === 'Kubelet' ? '${identity.kubeconfig}' : '/etc/kubernetes/kubeconfig';
  const flags = ['--config=/etc/kubernetes/kubelet.json', `--kubeconfig=${kubeconfig}`];
  const own = [`--hostname-override=${host.node.name}`, `--node-ip=${host.node.address}`];
  const config = {
    path: '/etc/kubernetes/kubelet.json',
    content: JSON.stringify(KUBELET_CONFIGURATION, undefined, 2),
  };
  return {
    component: 'kubelet',
    version: '1.0.0',
    identity,
    artifacts: [{ os: 'linux', arch: 'any', ...artifact, format: 'Raw', install: [] }],
    files: [config],
    units: [{ name: 'kubelet', exec: { argv: ['${dir}/kubelet', ...flags, ...own] } }],
    commitAfterSeconds: 1,
  };
}

export function containerdVersion(version: string, content: string): object {
  return {
    component: 'containerd',
    version,
    files: [{ path: '/etc/containerd/config.toml', content }],
    units: [{ name: 'containerd', existing: true }],
    commitAfterSeconds: 1,
  };
}
