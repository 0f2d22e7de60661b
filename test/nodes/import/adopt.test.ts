/** A real Node with pods, imported with `existingNode: Adopt`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine, MachineComponentReport } from '../../../src/api/generated/types.ts';
import { PRINCIPAL_COMPONENTSET, PRINCIPAL_DEFENDER } from '../../../src/api/names.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { conditionOf } from '../../../src/kube/objects/conditions.ts';
import { NODES, PODS } from '../../../src/kube/objects/core-kinds.ts';
import { listAt, textAt, valueAt } from '../../../src/kube/objects/json.ts';
import { createPrincipal } from '../../../src/local/pki/principal.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { ensureAccount, WEB } from '../../cluster/controllers/budgeted-pod.ts';
import { entryOf } from '../../support/agent/fake-api.ts';
import { type BareHost, type NodeCluster, startNodeCluster } from '../../support/agent/node-cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { createGranter } from '../../support/granter.ts';
import { IMAGE, importImage } from '../../support/node-kit/image.ts';
import { CONTAINERD, KUBELET_CONFIGURATION, kubeletBinary } from '../../support/node-kit/kubelet.ts';
import { whyNoNodes } from '../../support/node-kit.ts';

const reason = whyNoNodes();
if (reason) process.stderr.write(`skipped: ${reason}\n`);

const NAME = 'a1';
const PODS_ON_NODE = 30;
const WITHIN_MS = 180_000;
const PROGRAM = '/usr/local/lib/kubenode/kubenode-agent';
const FILES = [
  '/etc/systemd/system/kubelet.service',
  '/etc/containerd/config.toml',
  '/etc/kubernetes/kubelet.json',
];

// Each test begins where the one before it ended.
describe.skipIf(reason)(`a Node that is adopted${reason ? ` (${reason})` : ''}`, { shuffle: false }, () => {
  let cluster: NodeCluster;
  let client: Client;
  let host: BareHost;
  let kubelet: Machine['spec']['components'][number];
  let before: {
    readonly files: string;
    readonly units: string;
    readonly pods: unknown;
    readonly node: unknown;
  };

  beforeAll(async () => {
    cluster = await startNodeCluster({ imports: true });
    ({ client } = cluster.installed.server);
    host = await cluster.bootJoined(NAME);
    await importImage(host.node);
    await ensureAccount(client);
    await eventually(async () => (await nodeReady()) || undefined, 'the Node is not Ready', WITHIN_MS);
    await Promise.all(Array.from({ length: PODS_ON_NODE }, (_, index) => createPod(`pod-${index}`)));
    const running = async (): Promise<true | undefined> =>
      (await containers()).length === PODS_ON_NODE || undefined;
    await eventually(running, 'the pods do not run', WITHIN_MS);
    before = { files: await files(), units: await units(), pods: await containers(), node: await nodeSpec() };
    kubelet = entryOf(await cluster.publish(await kubeletVersion()), false);
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  async function nodeReady(): Promise<boolean> {
    const node = await client.get(NODES, { name: NAME }).catch(() => undefined);
    return listAt(node, 'status', 'conditions').some(
      (each) => textAt(each, 'type') === 'Ready' && textAt(each, 'status') === 'True',
    );
  }

  async function nodeSpec(): Promise<unknown> {
    return valueAt(await client.get(NODES, { name: NAME }), 'spec');
  }

  async function createPod(name: string): Promise<void> {
    await client.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: WEB.namespace },
      spec: {
        nodeName: NAME,
        terminationGracePeriodSeconds: 1,
        automountServiceAccountToken: false,
        containers: [{ name: 'main', image: IMAGE, imagePullPolicy: 'Never' }],
      },
    });
  }

  /** The containers that run: id, start and number of restarts. */
  async function containers(): Promise<readonly string[]> {
    const { items } = await client.list(PODS);
    return items
      .flatMap((pod) => listAt(pod, 'status', 'containerStatuses'))
      .filter((each) => textAt(each, 'state', 'running', 'startedAt') !== undefined)
      .map((each) =>
        JSON.stringify([valueAt(each, 'containerID'), valueAt(each, 'state'), valueAt(each, 'restartCount')]),
      )
      .toSorted();
  }

  async function units(...names: readonly string[]): Promise<string> {
    const asked = names.length > 0 ? names : ['kubelet', 'containerd'];
    const properties = '--property=Id,MainPID,ExecMainStartTimestampMonotonic,NRestarts';
    return (await host.node.run('systemctl', 'show', properties, ...asked)).stdout;
  }

  async function files(): Promise<string> {
    return (await host.node.run('sha256sum', ...FILES)).stdout;
  }

  async function kubeletVersion(): Promise<object> {
    const artifact = await cluster.serve(await kubeletBinary());
    const flags = ['--config=/etc/kubernetes/kubelet.json', '--kubeconfig=/etc/kubernetes/kubeconfig'];
    const own = [`--hostname-override=${NAME}`, `--node-ip=${host.node.address}`];
    const config = {
      path: '/etc/kubernetes/kubelet.json',
      content: JSON.stringify(KUBELET_CONFIGURATION, undefined, 2),
    };
    return {
      component: 'kubelet',
      version: '1.0.0',
      artifacts: [{ os: 'linux', arch: 'any', ...artifact, format: 'Raw', install: [] }],
      files: [config],
      units: [{ name: 'kubelet', exec: { argv: ['${dir}/kubelet', ...flags, ...own] } }],
      commitAfterSeconds: 1,
    };
  }

  async function declare(containerd: object): Promise<void> {
    const entry = entryOf(await cluster.publish(containerd), false);
    const adopted = { ...host, import: { ...host.import, existingNode: 'Adopt' } };
    await cluster.declareMachine(NAME, [entry, kubelet], {}, adopted);
  }

  async function report(component: string): Promise<MachineComponentReport | undefined> {
    const { status } = await client.get<Machine>(MACHINES, { name: NAME });
    return status?.components?.find(({ name }) => name === component);
  }

  async function until(component: string, isSo: (found: MachineComponentReport) => boolean): Promise<void> {
    const found = async (): Promise<true | undefined> => {
      const each = await report(component);
      return (each !== undefined && isSo(each)) || undefined;
    };
    await eventually(found, `${component} is not as expected`, WITHIN_MS).catch(async (error: unknown) => {
      const { status } = await client.get<Machine>(MACHINES, { name: NAME });
      const logs = await host.node.run('journalctl', '--no-pager', '--lines=60', '--unit=kubenode-agent');
      throw new Error(`${String(error)}\n${JSON.stringify(status, undefined, 1)}\n${logs.stdout}`, {
        cause: error,
      });
    });
  }

  it('MAC-19 commits the kubelet that runs without a restart, and names how containerd differs', async () => {
    await declare(containerdVersion('1.0.0', `# another line\n${CONTAINERD}`));
    await until('kubelet', ({ state }) => state === 'Committed');
    await until('containerd', ({ waiting }) => waiting?.reason === 'HostDiffers');
    const { status } = await client.get<Machine>(MACHINES, { name: NAME });
    expect(conditionOf(status?.conditions, 'DriftDetected')).toMatchObject({
      status: 'True',
      reason: 'Reported',
      message: expect.stringContaining('/etc/containerd/config.toml has other content') as string,
    });
    expect(conditionOf(status?.conditions, 'Stalled')?.status).not.toBe('True');
    expect(await units()).toBe(before.units);
    expect(await containers()).toEqual(before.pods);
    expect(await nodeSpec()).toEqual(before.node);
    const text = (await host.node.run('cat', '/etc/systemd/system/kubelet.service')).stdout;
    expect(text).toContain('Written by the kubenode agent');
  });

  it('MAC-19 changes containerd when another version is desired, with a grant', async () => {
    await declare(containerdVersion('1.0.1', `# the line of the next version\n${CONTAINERD}`));
    const [defender, componentset] = await Promise.all(
      [PRINCIPAL_DEFENDER, PRINCIPAL_COMPONENTSET].map((principal) => {
        const { user, groups } = createPrincipal(principal);
        return cluster.installed.as(user, groups);
      }),
    );
    if (!defender || !componentset) throw new Error('not signed in');
    await until('containerd', ({ state }) => state === 'WaitingForGrant');
    await createGranter({ defender, componentset, clock: createSystemClock() }).grantEntries(NAME);
    await until('containerd', ({ state }) => state === 'Committed');
    expect(await units('containerd')).not.toBe(before.units.split('\n\n')[1]);
    expect((await host.node.run('head', '-1', '/etc/containerd/config.toml')).stdout).toBe(
      '# the line of the next version\n',
    );
    expect(await containers()).toEqual(before.pods);
  });

  it('MAC-19 MAC-20 gives the units and files of the person back with Restore', async () => {
    await host.node.run(PROGRAM, 'release', '--cleanup', 'Restore', '-o', 'json');
    expect(await files()).toBe(before.files);
    const { stdout } = await host.node.run('systemctl', 'is-active', 'kubelet', 'containerd');
    expect(stdout).toBe('active\nactive\n');
  });
});

function containerdVersion(version: string, content: string): object {
  return {
    component: 'containerd',
    version,
    files: [{ path: '/etc/containerd/config.toml', content }],
    units: [{ name: 'containerd', existing: true }],
    commitAfterSeconds: 1,
  };
}
