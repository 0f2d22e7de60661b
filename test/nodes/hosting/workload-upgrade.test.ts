/** Driver `workload` with pods on a real node: a control plane of the minor version before is upgraded, and taken back, under a client. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLUSTERS } from '../../../src/api/generated/resources.ts';
import type { Cluster } from '../../../src/api/generated/types.ts';
import { kubeconfigSecret, NAMESPACE } from '../../../src/api/names.ts';
import { readWorkloadImages } from '../../../src/cli/hosting/images.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { createWorkloadDriver } from '../../../src/controllers/hosting/drivers/workload/driver.ts';
import { planeNamespace, RECORD } from '../../../src/controllers/hosting/drivers/workload/names.ts';
import { parseWorkloadRecord } from '../../../src/controllers/hosting/drivers/workload/record-object.ts';
import { JOBS } from '../../../src/controllers/hosting/drivers/workload/snapshot/containers.ts';
import { connect } from '../../../src/kube/client/connect.ts';
import { CONFIG_MAPS, SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../src/kube/objects/json.ts';
import { CONTROL_PLANE_VERSION } from '../../../src/local/binaries/versions.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { startApiServer } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { type LoadTarget, startLoad } from '../../support/hosting/client-load.ts';
import { OLD_ETCD_VERSION, OLD_VERSION } from '../../support/hosting/objects.ts';
import { noOlderKubernetesReason, olderKubernetes } from '../../support/hosting/older-kubernetes.ts';
import { hostingArgs, type PodHub, startPodHub } from '../../support/hosting/pods/hub.ts';
import { noKubeProxyReason } from '../../support/hosting/pods/kube-proxy.ts';
import { createPlane, podsOf } from '../../support/hosting/pods/planes.ts';
import { imitateProductImage } from '../../support/node-kit/product-image.ts';
import { whyNoNodes } from '../../support/node-kit.ts';
import { tempFolder } from '../../support/temp.ts';
import { testIo } from '../../support/test-io.ts';

const reason = whyNoNodes() ?? (await noKubeProxyReason()) ?? (await noOlderKubernetesReason());
if (reason) process.stderr.write(`skipped: ${reason}\n`);

const NAME = 'ci';
const UPGRADE = { soakSeconds: 5, progressDeadlineSeconds: 300 };
const LIMIT_MS = 600_000;
/** A request every 100 ms, on a new connection, as a client without a cache sends it. */
const EVERY_MS = 100;

describe.skipIf(reason)(`an upgrade of pods on a real node${reason ? ` (${reason})` : ''}`, () => {
  let hub: PodHub;
  let kubeconfig: string;

  beforeAll(async () => {
    const programs = await olderKubernetes(tempFolder('older'));
    hub = await startPodHub({
      folder: tempFolder('pod-hub'),
      startServer: startApiServer,
      kubenodeArchive: (name) => imitateProductImage(tempFolder('image'), name, ''),
      older: { version: OLD_VERSION, etcdVersion: OLD_ETCD_VERSION, folder: programs },
    });
    const io = testIo({ env: { KUBECONFIG: hub.server.kubeconfig } });
    if ((await runCommandLine(io, hostingArgs(hub))) !== 0) throw new Error(io.stderr);
    await createPlane(hub, NAME, { version: OLD_VERSION, upgrade: UPGRADE as never });
    kubeconfig = join(tempFolder('kubeconfig'), 'kubeconfig');
    const secret = await hub.server.client.get(SECRETS, {
      name: kubeconfigSecret(NAME),
      namespace: NAMESPACE,
    });
    const text = Buffer.from(textAt(secret, 'data', 'kubeconfig') ?? '', 'base64').toString();
    writeFileSync(kubeconfig, text, { mode: 0o600 });
  });
  afterAll(() => hub?.stop());

  /** Changes the spec, and resolves when that change has ended with this condition. */
  async function changed(hosted: object, expected: string): Promise<Cluster> {
    const patch = { type: 'merge', body: { spec: { hosted } } } as const;
    const { generation = 0 } = (await hub.server.client.patch<Cluster>(CLUSTERS, { name: NAME }, patch))
      .metadata;
    const hasEnded = async (): Promise<Cluster | undefined> => {
      const cluster = await hub.server.client.get<Cluster>(CLUSTERS, { name: NAME });
      return stateOfChange(cluster, generation).startsWith(expected) ? cluster : undefined;
    };
    return await eventually(hasEnded, `the change did not end as ${expected}`, LIMIT_MS);
  }

  async function serverVersion(): Promise<unknown> {
    const client = await connect({ kubeconfig });
    try {
      return await client.raw('/version');
    } finally {
      await client.close();
    }
  }

  it('HOS-13 changes a flag of the API server while each request of a client is answered', async () => {
    const client = startClient(kubeconfig);
    await changed({ apiServer: { extraArgs: { 'goaway-chance': '0.001' } } }, 'True');
    report('flag', await client.stop());
    expect(client.failed).toEqual([]);
  });

  it('HOS-10 HOS-31 upgrades a minor version after a snapshot, with an outage only while etcd is replaced', async () => {
    const client = startClient(kubeconfig);
    const { status } = await changed({ version: CONTROL_PLANE_VERSION }, 'True');
    const observed = await client.stop();
    report('upgrade', observed);
    expect(status?.hosted?.history?.[0]).toMatchObject({
      from: OLD_VERSION,
      to: CONTROL_PLANE_VERSION,
      result: 'Completed',
    });
    expect(await serverVersion()).toMatchObject({ gitVersion: CONTROL_PLANE_VERSION });
    expect(observed.outageMs).toBeLessThan(60_000);
    const namespace = planeNamespace(NAME);
    const record = await hub.server.client.get(CONFIG_MAPS, { name: RECORD, namespace });
    expect(parseWorkloadRecord(record).snapshot?.takenAt).toMatch(/^\d{4}-/);
    expect((await hub.server.client.list(JOBS, { namespace })).items).toEqual([]);
  });

  it('HOS-12 takes a flag back with which the API server does not start, and serves meanwhile', async () => {
    const client = startClient(kubeconfig);
    await changed({ apiServer: { extraArgs: { 'goaway-chance': '7' } } }, 'False RolledBack');
    report('rollback', await client.stop());
    expect(client.failed).toEqual([]);
    // Another test may follow.
    await changed({ apiServer: { extraArgs: { 'goaway-chance': null } } }, 'True');
  });

  it('HOS-13 answers fifty requests a second while a flag of two API servers changes, one after the other', async () => {
    await changed({ replicas: 2 }, 'True');
    await eventually(async () => (await readyServers()) === 2 || undefined, 'no second API server', LIMIT_MS);
    const load = await startLoad(await loadTarget(hub));
    const started = performance.now();
    await changed({ apiServer: { extraArgs: { 'goaway-chance': '0.002' } } }, 'True');
    const { requests, errors, failedOnce, outageMs, watchGapMs } = await load.stop();
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    const gaps = `at most ${outageMs.toFixed(0)} ms without an answer and ${watchGapMs.toFixed(0)} ms without news for a watch`;
    const failed = `${errors.length} failed, ${failedOnce} for a client that sends none again`;
    process.stderr.write(
      `control plane as pods: two API servers changed in ${seconds} s: ${requests} requests, ${failed}, ${gaps}\n`,
    );
    const runs = (await podsOf(hub, NAME, 'kube-apiserver')).map((pod) => JSON.stringify(pod['spec']));
    expect(runs.map((text) => text.includes('--goaway-chance=0.002'))).toEqual([true, true]);
    expect(errors.slice(Math.floor(requests / 1000))).toEqual([]);
    expect(watchGapMs).toBeLessThan(10_000);
  });

  async function readyServers(): Promise<number | undefined> {
    const { status } = await hub.server.client.get<Cluster>(CLUSTERS, { name: NAME });
    return status?.hosted?.components?.find(({ name }) => name === 'kube-apiserver')?.ready;
  }
});

/** Resolves to how the load reaches the cluster, as its administrator and as sync. */
async function loadTarget({ server: { client }, imagesFile }: PodHub): Promise<LoadTarget> {
  const images = (): ReturnType<typeof readWorkloadImages> => readWorkloadImages(imagesFile);
  const driver = createWorkloadDriver({ client, clock: createSystemClock(), images });
  const { metadata } = await client.get(CLUSTERS, { name: NAME });
  const access = await driver.access({ name: NAME, uid: metadata.uid ?? '' });
  if (!access) throw new Error('there is no kubeconfig');
  return {
    server: access.server,
    ca: partOf(access.admin, 'certificate-authority-data'),
    pairs: { admin: pairOf(access.admin), sync: pairOf(access.sync) },
  };
}

function partOf(kubeconfig: string, name: string): string {
  const found = new RegExp(`${name}: (?<data>\\S+)`).exec(kubeconfig)?.groups?.['data'];
  return Buffer.from(found ?? '', 'base64').toString();
}

function pairOf(kubeconfig: string): string {
  return partOf(kubeconfig, 'client-certificate-data') + partOf(kubeconfig, 'client-key-data');
}

/** Returns status and reason of the change; empty while it goes on, or is not reported yet. */
function stateOfChange({ status }: Cluster, generation: number): string {
  const found = status?.conditions?.find(({ type }) => type === 'ControlPlaneUpToDate');
  if (status?.hosted?.upgrade || found?.observedGeneration !== generation) return '';
  return `${found.status} ${found.reason}`;
}

interface ObservedByClient {
  readonly requests: number;
  readonly outageMs: number;
}

interface PollingClient {
  readonly failed: readonly string[];
  stop(): Promise<ObservedByClient>;
}

/** Asks for an object of the cluster again and again. Like client-go it sends a request again that an ending API server refused. */
function startClient(kubeconfig: string): PollingClient {
  const failed: string[] = [];
  const stopped = new AbortController();
  let [requests, outageMs, answeredMs] = [0, 0, performance.now()];
  const running = run();
  return {
    failed,
    stop: async () => {
      stopped.abort();
      await running;
      return { requests, outageMs };
    },
  };

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      requests += 1;
      await ask().catch((error: unknown) => failed.push(String(error)));
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  }

  async function ask(): Promise<void> {
    const client = await connect({ kubeconfig });
    try {
      await client.raw('/version', { signal: AbortSignal.timeout(10_000) });
      outageMs = Math.max(outageMs, performance.now() - answeredMs);
      answeredMs = performance.now();
    } finally {
      await client.close();
    }
  }
}

function report(what: string, { requests, outageMs }: ObservedByClient): void {
  process.stderr.write(
    `control plane as pods: ${what}: ${requests} requests, at most ${outageMs.toFixed(0)} ms without an answer\n`,
  );
}
