/** A Node of a sandbox: the agent joins, installs the stand-in kubelet from its bundle, and repairs it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { buildBundle } from '../../../scripts/bundle.ts';
import { sandboxFolders } from '../../../src/agent/host/sandbox/folders.ts';
import { sendSignal, unitPids } from '../../../src/agent/host/sandbox/unit-process.ts';
import { MACHINE_COMPONENTS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine, MachineComponent, MachineComponentSpec } from '../../../src/api/generated/types.ts';
import { installation } from '../../../src/api/install/install.ts';
import { hasStartupTaint } from '../../../src/api/machine/node-state.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { NODES, PODS } from '../../../src/kube/objects/core-kinds.ts';
import { digestOf } from '../../../src/kube/objects/digest.ts';
import { valueAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { standInComponent, standInMachine } from '../../../src/local/kubelet/manifests.ts';
import { entryOf } from '../../support/agent/fake-api.ts';
import { endSandbox } from '../../support/agent/sandbox.ts';
import { startControllerManager } from '../../support/controller-manager.ts';
import { eventually } from '../../support/eventually.ts';
import { tempFolder } from '../../support/temp.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { bootstrapConfigFor, startIdentityControllers } from '../controllers/identity-controllers.ts';

const MAIN = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));
const ACCOUNTS: Resource = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
};

let installed: InstalledServer;
let component: KubeObject & { readonly spec: MachineComponentSpec };
const ends: (() => Promise<void>)[] = [];
beforeAll(async () => {
  // Grants are written here without the Defender, which this policy forbids.
  const objects = installation().filter(({ metadata }) => !metadata.name.includes('components-writer'));
  installed = await startInstalledServer(objects);
  ends.push(await startIdentityControllers(installed));
  // A node is unknown after 20 seconds without its Lease.
  const flags = ['--node-monitor-period=1s', '--node-monitor-grace-period=20s'];
  ends.push(await startControllerManager(installed.server, ['node-lifecycle-controller'], flags));
  const { file, sha256 } = await buildBundle('kubelet', tempFolder('bundle'));
  const artifact = { url: pathToFileURL(file).href, sha256, nodeFolder: dirname(process.execPath) };
  component = standInComponent('1.36.3', artifact);
});
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
  await installed?.stop();
});

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime: string;
}

/** The Node once its condition Ready has this status. */
async function nodeReady(name: string, status: string): Promise<KubeObject> {
  const found = async (): Promise<KubeObject | undefined> => {
    const node = await installed.server.client.get(NODES, { name }).catch(() => undefined);
    const conditions = (valueAt(node, 'status', 'conditions') ?? []) as readonly Condition[];
    return conditions.find(({ type }) => type === 'Ready')?.status === status ? node : undefined;
  };
  return await eventually(found, `${name} did not become Ready=${status}`);
}

async function isCommitted(machine: string): Promise<true | undefined> {
  const { status } = await installed.server.client.get<Machine>(MACHINES, { name: machine });
  return status?.components?.[0]?.state === 'Committed' ? true : undefined;
}

async function isInitialized(name: string): Promise<true | undefined> {
  return hasStartupTaint(await installed.server.client.get(NODES, { name })) ? undefined : true;
}

describe('a stand-in kubelet as a component of a sandbox', () => {
  it('brings a Node to Ready, ends evicted pods, loses the Node without its agent, and is repaired by it', async () => {
    const { client } = installed.server;
    const directory = join(tempFolder('agent'), 'k1');
    const folders = sandboxFolders(directory);
    await client.apply(MACHINE_COMPONENTS, component, { fieldManager: 'test' });
    const stored = await client.get<MachineComponent>(MACHINE_COMPONENTS, component.metadata);
    expect(digestOf(stored.spec)).toBe(digestOf(component.spec));
    const machine = standInMachine('k1', component);
    const spec = { ...machine.spec, components: [entryOf(stored.spec)] };
    await client.apply(MACHINES, { ...machine, spec }, { fieldManager: 'test' });
    const bootstrap = join(tempFolder('bootstrap'), 'bootstrap.json');
    writeFileSync(bootstrap, await bootstrapConfigFor(installed, 'k1'), { mode: 0o600 });
    const agent = new AgentProcess(['--machine', 'k1', '--directory', directory]);
    onTestFinished(() => endSandbox(directory));
    onTestFinished(() => agent.kill());
    agent.start('--bootstrap', bootstrap);

    const node = await nodeReady('k1', 'True');
    const { bootId } = JSON.parse(readFileSync(folders.bootFile, 'utf8')) as { bootId: string };
    expect(node['status']).toMatchObject({
      nodeInfo: { bootID: bootId, kubeletVersion: 'v1.36.3', containerRuntimeVersion: 'stand-in://1' },
      capacity: { pods: '110' },
    });
    const lease = await eventually(
      () => client.get(LEASES, { name: 'k1', namespace: 'kube-node-lease' }).catch(() => undefined),
      'the Lease of the node was not written',
    );
    expect(lease.metadata.ownerReferences).toMatchObject([{ kind: 'Node', uid: node.metadata.uid }]);
    await eventually(() => isCommitted('k1'), 'the component was not committed');

    await eventually(() => isInitialized('k1'), 'the start-up taint was not removed');

    await evict('k1');

    // The agent ends, then its component: nothing restarts it, and the cluster notices.
    await agent.kill();
    sendSignal(await unitPids(folders), 'SIGKILL');
    await nodeReady('k1', 'Unknown');

    agent.start();
    const back = await nodeReady('k1', 'True');
    expect(back.metadata.uid).toBe(node.metadata.uid);
    expect(
      readFileSync(folders.logFile('kubelet'), 'utf8').match(/"message":"node registered"/g),
    ).toHaveLength(2);
  });
});

/** A pod that is bound to the node is reported as running, and its eviction ends it. */
async function evict(nodeName: string): Promise<void> {
  const { client } = installed.server;
  const metadata = { name: 'web', namespace: 'default' };
  const account = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'default', namespace: 'default' },
  };
  await client.apply(ACCOUNTS, account, { fieldManager: 'test' });
  const spec = {
    nodeName,
    automountServiceAccountToken: false,
    containers: [{ name: 'main', image: 'example.com/web:1' }],
  };
  await client.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata, spec });
  const phase = async (): Promise<unknown> =>
    await client.get(PODS, metadata).then(
      (pod) => valueAt(pod, 'status', 'phase'),
      () => 'Missing',
    );
  const reached = (wanted: string) => async () => ((await phase()) === wanted ? true : undefined);
  await eventually(reached('Running'), 'the pod was not reported as running');
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata };
  await client.create({ ...PODS, kind: 'Eviction' }, eviction, { subresource: 'eviction' });
  await eventually(reached('Missing'), 'the evicted pod did not end');
}

/** The program `kubenode agent run --host sandbox`. */
class AgentProcess {
  readonly #args: readonly string[];
  #child: ChildProcess | undefined;

  constructor(args: readonly string[]) {
    this.#args = args;
  }

  start(...more: readonly string[]): void {
    const args = [MAIN, 'agent', 'run', '--host', 'sandbox', ...this.#args, ...more];
    this.#child = spawn(process.execPath, args, { stdio: 'ignore' });
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
}
