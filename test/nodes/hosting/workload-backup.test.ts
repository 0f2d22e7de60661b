/** Driver `workload` with pods on a real node: a control plane is backed up, deleted, and created again from the volume that was kept. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLUSTERS } from '../../../src/api/generated/resources.ts';
import type { Cluster } from '../../../src/api/generated/types.ts';
import { ANNOTATION_BACKUP_REQUEST, kubeconfigSecret, NAMESPACE } from '../../../src/api/names.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { BACKUPS, planeNamespace } from '../../../src/controllers/hosting/drivers/workload/names.ts';
import { JOBS } from '../../../src/controllers/hosting/drivers/workload/snapshot/containers.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { connect } from '../../../src/kube/client/connect.ts';
import { unlessMissing } from '../../../src/kube/client/errors.ts';
import { NAMESPACES, SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { startApiServer } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { hostingArgs, type PodHub, startPodHub } from '../../support/hosting/pods/hub.ts';
import { noKubeProxyReason } from '../../support/hosting/pods/kube-proxy.ts';
import { conditionText, createPlane } from '../../support/hosting/pods/planes.ts';
import { VOLUMES } from '../../support/hosting/pods/volumes.ts';
import { imitateProductImage } from '../../support/node-kit/product-image.ts';
import { whyNoNodes } from '../../support/node-kit.ts';
import { tempFolder } from '../../support/temp.ts';
import { testIo } from '../../support/test-io.ts';

const reason = whyNoNodes() ?? (await noKubeProxyReason());
if (reason) process.stderr.write(`skipped: ${reason}\n`);

const NAME = 'ci';
const KEPT = 'kept-1';
const kept = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: KEPT } };
const REQUEST = 'before the deletion';
const LIMIT_MS = 600_000;
const BACKUP = { everySeconds: 86_400, keep: 3, drillEverySeconds: 3600 };

describe.skipIf(reason)(`backups of pods on a real node${reason ? ` (${reason})` : ''}`, () => {
  let hub: PodHub;

  beforeAll(async () => {
    hub = await startPodHub({
      folder: tempFolder('pod-hub'),
      startServer: startApiServer,
      kubenodeArchive: (name) => imitateProductImage(tempFolder('image'), name, ''),
    });
    const io = testIo({ env: { KUBECONFIG: hub.server.kubeconfig } });
    if ((await runCommandLine(io, hostingArgs(hub))) !== 0) throw new Error(io.stderr);
    await createPlane(hub, NAME, { etcd: { storageGiB: 1, backup: BACKUP } as never });
  });
  afterAll(() => hub?.stop());

  async function inCluster<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const name = { name: kubeconfigSecret(NAME), namespace: NAMESPACE };
    const secret = await hub.server.client.get(SECRETS, name);
    const path = join(tempFolder('kubeconfig'), 'kubeconfig');
    const text = Buffer.from(textAt(secret, 'data', 'kubeconfig') ?? '', 'base64').toString();
    writeFileSync(path, text, { mode: 0o600 });
    const client = await connect({ kubeconfig: path });
    try {
      return await work(client);
    } finally {
      await client.close();
    }
  }

  async function etcdStatus(): Promise<Readonly<Record<string, unknown>>> {
    const { status } = await hub.server.client.get<Cluster>(CLUSTERS, { name: NAME });
    return { ...status?.hosted?.etcd };
  }

  async function reaches(what: string, isReached: () => Promise<boolean>): Promise<void> {
    const check = async (): Promise<true | undefined> => (await isReached()) || undefined;
    await eventually(check, what, LIMIT_MS).catch(async (error: unknown) => {
      const shown = await conditionText(hub, NAME, 'BackupReady').catch(() => 'no Cluster');
      throw new Error(`${String(error)}: ${shown}`, { cause: error });
    });
  }

  async function volume(): Promise<KubeObject | undefined> {
    const { items } = await hub.server.client.list(VOLUMES);
    return items.find((each) => textAt(each, 'spec', 'claimRef', 'name') === BACKUPS);
  }

  /** Resolves to the name of the last one. */
  async function takeAndTest(): Promise<unknown> {
    const { client } = hub.server;
    const body = { metadata: { annotations: { [ANNOTATION_BACKUP_REQUEST]: REQUEST } } };
    const started = performance.now();
    await client.patch(CLUSTERS, { name: NAME }, { type: 'merge', body });
    await reaches('no backup was taken', async () => (await etcdStatus())['backupRequest'] === REQUEST);
    report('a backup was taken', started);
    await reaches('no drill has ended', async () => (await etcdStatus())['lastDrillAt'] !== undefined);
    const backup = (await etcdStatus())['lastBackup'];
    expect(backup).toMatch(/^00000[12]-/);
    expect((await etcdStatus())['lastDrill']).toMatchObject({
      backup: expect.stringMatching(/^00000[12]-/) as string,
      clusterUID: await inCluster(async (inside) => {
        const { metadata } = await inside.get(NAMESPACES, { name: 'kube-system' });
        return metadata.uid;
      }),
    });
    const io = testIo({ env: { KUBECONFIG: hub.server.kubeconfig } });
    expect(await runCommandLine(io, ['cluster', 'backup', 'list', NAME, '-o', 'json'])).toBe(0);
    expect(io.stdout).toContain(String(backup));
    expect(await conditionText(hub, NAME, 'BackupReady')).toMatch(/^True Recent/);
    expect(await conditionText(hub, NAME)).toMatch(/^True/);
    const namespace = planeNamespace(NAME);
    await reaches('the Job is left', async () => (await client.list(JOBS, { namespace })).items.length === 0);
    return backup;
  }

  async function deleteCluster(): Promise<void> {
    const { client } = hub.server;
    const { metadata } = await client.get(CLUSTERS, { name: NAME });
    await client.delete(CLUSTERS, { name: NAME }, { uid: metadata.uid ?? '' });
    const namespace = { name: planeNamespace(NAME) };
    await reaches('it is not removed', async () => {
      const left = [client.get(NAMESPACES, namespace), client.get(CLUSTERS, { name: NAME })];
      return (await Promise.all(left.map(unlessMissing))).every((each) => each === undefined);
    });
    await reaches(
      'the volume is not released',
      async () => textAt(await volume(), 'status', 'phase') === 'Released',
    );
  }

  /** A person binds the volume that was kept to the claim of the next Cluster. */
  async function bindVolume(): Promise<void> {
    const { name = '' } = (await volume())?.metadata ?? {};
    const claimRef = { uid: null, resourceVersion: null };
    await hub.server.client.patch(VOLUMES, { name }, { type: 'merge', body: { spec: { claimRef } } });
  }

  it('HOS-32 are taken and tested by Jobs, outlive the Cluster in the volume that was kept, and start it again', async () => {
    const { uid } = (await inCluster((inside) => inside.create(NAMESPACES, kept))).metadata;
    const backup = await takeAndTest();
    await deleteCluster();
    await bindVolume();
    const started = performance.now();
    await createPlane(hub, NAME, { etcd: { storageGiB: 1, restoreFrom: 'latest' } as never });
    report('a control plane was restored', started);
    expect((await etcdStatus())['restoredFrom']).toBe(backup);
    const found = await inCluster((inside) => inside.get(NAMESPACES, { name: KEPT }));
    expect([found.metadata.uid, uid]).toEqual([uid, expect.any(String)]);
  });
});

function report(what: string, startedMs: number): void {
  const seconds = (performance.now() - startedMs) / 1000;
  process.stderr.write(`control plane as pods: ${what} in ${seconds.toFixed(0)} s\n`);
}
