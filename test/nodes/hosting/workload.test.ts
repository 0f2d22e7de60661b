/** Driver `workload` with pods on a real node: `kubenode hosting` in a hub turns a Cluster into a control plane, keeps it, and removes it. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import { FINALIZER_MACHINE, kubeconfigSecret, LABEL_PART, NAMESPACE } from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { connect } from '../../../src/kube/client/connect.ts';
import { SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { listAt, textAt, valueAt } from '../../../src/kube/objects/json.ts';
import { startApiServer } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { hostingArgs, type PodHub, startPodHub } from '../../support/hosting/pods/hub.ts';
import { noKubeProxyReason } from '../../support/hosting/pods/kube-proxy.ts';
import { createPlane, deletePlane, isReadyPod, podsOf } from '../../support/hosting/pods/planes.ts';
import { imitateProductImage } from '../../support/node-kit/product-image.ts';
import { whyNoNodes } from '../../support/node-kit.ts';
import { tempFolder } from '../../support/temp.ts';
import { testIo } from '../../support/test-io.ts';

const reason = whyNoNodes() ?? (await noKubeProxyReason());
if (reason) process.stderr.write(`skipped: ${reason}\n`);

const MEMBERS = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubenode-controllers',
];
const NAME = 'ci';

describe.skipIf(reason)(`control planes as pods on a real node${reason ? ` (${reason})` : ''}`, () => {
  let hub: PodHub;
  /** Path of the kubeconfig that sync has. */
  let kubeconfig: string;
  let inside: Client;

  beforeAll(async () => {
    hub = await startPodHub({ folder: tempFolder('pod-hub'), startServer: startApiServer, kubenodeArchive });
    const io = testIo({ env: { KUBECONFIG: hub.server.kubeconfig } });
    if ((await runCommandLine(io, hostingArgs(hub))) !== 0) throw new Error(io.stderr);
    report(`ready ${await createPlane(hub, NAME)} s after it was declared, with the first start of hosting`);
    kubeconfig = join(tempFolder('kubeconfig'), 'kubeconfig');
    writeFileSync(kubeconfig, await secretText(NAMESPACE, kubeconfigSecret(NAME), 'kubeconfig'), {
      mode: 0o600,
    });
    inside = await connect({ kubeconfig });
  });
  afterAll(async () => {
    await inside?.close();
    await hub?.stop();
  });

  async function secretText(namespace: string, name: string, key: string): Promise<string> {
    const secret = await hub.server.client.get(SECRETS, { name, namespace });
    return Buffer.from(textAt(secret, 'data', key) ?? '', 'base64').toString();
  }

  it('HOS-52 serve kubectl with the kubeconfig that hosting hands to sync, through the port of the node', async () => {
    const kubectl = promisify(execFile);
    const { stdout } = await kubectl(hub.server.kubectl, [
      '--kubeconfig',
      kubeconfig,
      'get',
      // Other tests of this file create Machines.
      'machinesets',
      '-o',
      'name',
    ]);
    expect(stdout).toBe('');
    expect(await inside.raw('/version')).toMatchObject({
      gitVersion: expect.stringMatching(/^v1\./) as string,
    });
  });

  it('HOS-50 have controllers of kubenode that accept a Machine in the new cluster', async () => {
    await createMachine('m-1');
    expect(await eventually(() => isTaken(inside, 'm-1'), 'no controller took the Machine')).toBe(true);
  });

  it('HOS-43 run without root, without a token of the hub, with their own keys only, and with images by digest', async () => {
    for (const member of MEMBERS) {
      const [pod] = await podsOf(hub, NAME, member);
      expect(pod).toMatchObject({
        metadata: { labels: { [LABEL_PART]: member } },
        spec: { automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } },
      });
      for (const container of listAt(pod, 'spec', 'containers')) {
        expect(textAt(container, 'image')).toMatch(/@sha256:[0-9a-f]{64}$/);
        expect(valueAt(container, 'securityContext', 'readOnlyRootFilesystem')).toBe(true);
      }
      const volumes = listAt(pod, 'spec', 'volumes').map((volume) => Object.keys(volume as object));
      expect(volumes.flat()).not.toContain('hostPath');
    }
  });

  it.each(MEMBERS)(
    'start %s again when its process is killed, with what the cluster has stored',
    async (member) => {
      const before = await restarts(member);
      const name = `before-${member}`;
      await createMachine(name);
      await killContainer(member);
      await eventually(
        async () => ((await restarts(member)) > before ? true : undefined),
        `${member} was not started again`,
      );
      await ready(member);
      expect(await found(name)).toBe(name);
    },
  );

  it('HOS-50 go on while the API server of the hub is stopped, also when a member ends meanwhile', async () => {
    const scheduler = await containerOf('kube-scheduler');
    await hub.server.kill();
    try {
      await createMachine('without-hub');
      await kill(scheduler);
      expect(await found('without-hub')).toBe('without-hub');
    } finally {
      await hub.server.start();
    }
    await ready('kube-scheduler');
  });

  it('HOS-02 leave no namespace, volume, Secret or pod in the hub when their Cluster is deleted', async () => {
    const created = await createPlane(hub, 'throw-away');
    report(`ready ${created.toFixed(1)} s after it was declared`);
    report(`removed ${(await deletePlane(hub, 'throw-away')).toFixed(1)} s after the deletion`);
    expect(await ready('kube-apiserver')).toBe(true);
  });

  async function createMachine(name: string): Promise<void> {
    const spec = { infra: { provider: 'local' }, host: { type: 'sandbox' }, components: [] };
    await inside.create(MACHINES, { apiVersion: API_VERSION, kind: 'Machine', metadata: { name }, spec });
  }

  async function found(name: string): Promise<string | undefined> {
    return await eventually(
      async () => (await inside.get(MACHINES, { name }).catch(() => undefined))?.metadata.name,
      `${name} is not in the cluster`,
    );
  }

  async function ready(member: string): Promise<true> {
    const isReady = async (): Promise<true | undefined> =>
      (await podsOf(hub, NAME, member).catch(() => [])).some(isReadyPod) ? true : undefined;
    return await eventually(isReady, `${member} is not ready`);
  }

  async function restarts(member: string): Promise<number> {
    const [pod] = await podsOf(hub, NAME, member);
    return Number(valueAt(listAt(pod, 'status', 'containerStatuses')[0], 'restartCount') ?? 0);
  }

  async function containerOf(member: string): Promise<string> {
    const [pod] = await podsOf(hub, NAME, member);
    const id = textAt(listAt(pod, 'status', 'containerStatuses')[0], 'containerID') ?? '';
    return id.replace('containerd://', '');
  }

  async function killContainer(member: string): Promise<void> {
    await ready(member);
    await kill(await containerOf(member));
  }

  async function kill(container: string): Promise<void> {
    await hub.node.run('ctr', '--namespace', 'k8s.io', 'task', 'kill', '--signal', 'SIGKILL', container);
  }
});

async function kubenodeArchive(name: string): Promise<string> {
  return await imitateProductImage(tempFolder('image'), name, '');
}

async function isTaken(client: Client, name: string): Promise<true | undefined> {
  const { metadata } = await client.get(MACHINES, { name });
  return metadata.finalizers?.includes(FINALIZER_MACHINE) || undefined;
}

function report(text: string): void {
  process.stderr.write(`control plane as pods: ${text}\n`);
}
