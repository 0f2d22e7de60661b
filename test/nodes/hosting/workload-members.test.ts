/** Driver `workload` with three members of etcd as pods on a real node: the cluster serves while one of them loses its volume and is replaced. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLUSTERS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { Cluster } from '../../../src/api/generated/types.ts';
import { kubeconfigSecret, NAMESPACE } from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import { readWorkloadImages } from '../../../src/cli/hosting/images.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { createWorkloadDriver } from '../../../src/controllers/hosting/drivers/workload/driver.ts';
import { planeNamespace, SNAPSHOT } from '../../../src/controllers/hosting/drivers/workload/names.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { connect } from '../../../src/kube/client/connect.ts';
import { SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { listAt, textAt } from '../../../src/kube/objects/json.ts';
import { ETCD_VERSION } from '../../../src/local/binaries/versions.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { startApiServer } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { takeSnapshot } from '../../support/hosting/contract/take-snapshot.ts';
import { hostingArgs, type PodHub, startPodHub } from '../../support/hosting/pods/hub.ts';
import { noKubeProxyReason } from '../../support/hosting/pods/kube-proxy.ts';
import { conditionText, createPlane, podsOf } from '../../support/hosting/pods/planes.ts';
import { CLAIMS, VOLUMES_FOLDER } from '../../support/hosting/pods/volumes.ts';
import { imitateProductImage } from '../../support/node-kit/product-image.ts';
import { whyNoNodes } from '../../support/node-kit.ts';
import { tempFolder } from '../../support/temp.ts';
import { testIo } from '../../support/test-io.ts';

const reason = whyNoNodes() ?? (await noKubeProxyReason());
if (reason) process.stderr.write(`skipped: ${reason}\n`);

const NAME = 'ci';
const LOST = 'etcd-1';
const LIMIT_MS = 600_000;
const EVERY_MS = 200;

describe.skipIf(reason)(`three members of etcd on a real node${reason ? ` (${reason})` : ''}`, () => {
  let hub: PodHub;
  let inside: Client;

  beforeAll(async () => {
    hub = await startPodHub({
      folder: tempFolder('pod-hub'),
      startServer: startApiServer,
      kubenodeArchive: (name) => imitateProductImage(tempFolder('image'), name, ''),
    });
    const io = testIo({ env: { KUBECONFIG: hub.server.kubeconfig } });
    if ((await runCommandLine(io, hostingArgs(hub))) !== 0) throw new Error(io.stderr);
    const seconds = await createPlane(hub, NAME, { etcd: { storageGiB: 1, replicas: 3 } as never });
    process.stderr.write(
      `control plane as pods: three members of etcd ready after ${seconds.toFixed(0)} s\n`,
    );
    inside = await connectInside();
  });
  afterAll(async () => {
    await inside?.close();
    await hub?.stop();
  });

  async function connectInside(): Promise<Client> {
    const name = { name: kubeconfigSecret(NAME), namespace: NAMESPACE };
    const secret = await hub.server.client.get(SECRETS, name);
    const path = join(tempFolder('kubeconfig'), 'kubeconfig');
    writeFileSync(path, Buffer.from(textAt(secret, 'data', 'kubeconfig') ?? '', 'base64').toString(), {
      mode: 0o600,
    });
    return await connect({ kubeconfig: path });
  }

  it('HOS-31 are copied by a Job, which opens the copy, while they serve', async () => {
    const { client } = hub.server;
    const images = (): ReturnType<typeof readWorkloadImages> => readWorkloadImages(hub.imagesFile);
    const driver = createWorkloadDriver({ client, clock: createSystemClock(), images });
    const { metadata } = await client.get(CLUSTERS, { name: NAME });
    const started = performance.now();
    await takeSnapshot(driver, { name: NAME, uid: metadata.uid ?? '' });
    const seconds = (performance.now() - started) / 1000;
    process.stderr.write(`control plane as pods: a snapshot was taken in ${seconds.toFixed(0)} s\n`);
    const place = { name: SNAPSHOT, namespace: planeNamespace(NAME) };
    const { metadata: claim } = await client.get(CLAIMS, place);
    const folder = `${VOLUMES_FOLDER}/pvc-${claim.uid}`;
    const found = await hub.node.run('cat', `${folder}/upgrade/snapshot.json`);
    expect(JSON.parse(found.stdout)).toMatchObject({ cluster: NAME, etcdVersion: ETCD_VERSION });
  });

  it('HOS-33 serve writes while one loses its volume, and have three members again without a person', async () => {
    const before = await podUid();
    const client = startWriting(inside);
    await wipe();
    const seconds = await replaced(before);
    const { written, failed } = await client.stop();
    process.stderr.write(
      `control plane as pods: a member was replaced in ${seconds.toFixed(0)} s, with ${written} writes\n`,
    );
    expect(failed).toEqual([]);
    expect(written).toBeGreaterThan(10);
    const names = (await inside.list(MACHINES)).items.map(({ metadata }) => metadata.name);
    expect(names.length).toBe(written);
  });

  async function podUid(): Promise<string | undefined> {
    const [pod] = await podsOf(hub, NAME, LOST);
    return pod?.metadata.uid;
  }

  /** Empties the volume of the member, and ends its process. */
  async function wipe(): Promise<void> {
    const claim = await hub.server.client.get(CLAIMS, { name: LOST, namespace: planeNamespace(NAME) });
    await hub.node.run('rm', '-rf', `${VOLUMES_FOLDER}/pvc-${claim.metadata.uid}/data`);
    const [pod] = await podsOf(hub, NAME, LOST);
    const id = textAt(listAt(pod, 'status', 'containerStatuses')[0], 'containerID') ?? '';
    const container = id.replace('containerd://', '');
    await hub.node.run('ctr', '--namespace', 'k8s.io', 'task', 'kill', '--signal', 'SIGKILL', container);
  }

  async function readyMembers(): Promise<number | undefined> {
    const { status } = await hub.server.client.get<Cluster>(CLUSTERS, { name: NAME });
    return status?.hosted?.etcd?.ready;
  }

  /** Resolves to the seconds until another pod of the member has joined, and all of them answer. */
  async function replaced(before: string | undefined): Promise<number> {
    const started = performance.now();
    const isReplaced = async (): Promise<true | undefined> => {
      const isReady = (await conditionText(hub, NAME, 'EtcdReady')).startsWith('True');
      return (isReady && (await podUid()) !== before && (await readyMembers()) === 3) || undefined;
    };
    await eventually(isReplaced, 'the member was not replaced', LIMIT_MS).catch(async (error: unknown) => {
      const { status } = await hub.server.client.get<Cluster>(CLUSTERS, { name: NAME });
      throw new Error(`${String(error)}: ${JSON.stringify(status?.hosted)}`, { cause: error });
    });
    return (performance.now() - started) / 1000;
  }
});

interface WritingClient {
  stop(): Promise<{ readonly written: number; readonly failed: readonly string[] }>;
}

function startWriting(client: Client): WritingClient {
  const failed: string[] = [];
  const stopped = new AbortController();
  let written = 0;
  const running = run();
  return {
    stop: async () => {
      stopped.abort();
      await running;
      return { written, failed };
    },
  };

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      await write().catch((error: unknown) => failed.push(String(error)));
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  }

  async function write(): Promise<void> {
    const spec = { infra: { provider: 'local' }, host: { type: 'sandbox' }, components: [] };
    const metadata = { name: `w-${written}` };
    await client.create(MACHINES, { apiVersion: API_VERSION, kind: 'Machine', metadata, spec });
    written += 1;
  }
}
