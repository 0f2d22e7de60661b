/** Hosted control planes as pods on one real node: how long they take to come and to go. Needs root, as real nodes do. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { promisify } from 'node:util';
import type { ClusterHosted } from '../src/api/generated/types.ts';
import { planeNamespace } from '../src/controllers/hosting/drivers/workload/names.ts';
import { PODS } from '../src/kube/objects/core-kinds.ts';
import { listAt, textAt } from '../src/kube/objects/json.ts';
import { closeRun, openRun, type Run } from '../test/support/control-plane-run.ts';
import { startServer } from '../test/support/control-plane-server.ts';
import { hostingArgs, type PodHub, startPodHub } from '../test/support/hosting/pods/hub.ts';
import { createPlane, deletePlane, leftovers } from '../test/support/hosting/pods/planes.ts';
import { shellEnv } from '../test/support/local-fleet.ts';
import { imitateProductImage } from '../test/support/node-kit/product-image.ts';
import { setup } from '../test/support/node-kit/setup.ts';
import { whyNoNodes } from '../test/support/node-kit.ts';
import { type Bench, type BenchResult, KUBENODE_FLAGS, percentile } from './bench.ts';

/** One takes 0.7 GB while it runs, and each is deleted before the next. */
const PLANES = Number(env['KUBENODE_BENCH_PLANES'] ?? 5);

export const bench: Bench = {
  name: 'hosting-pods',
  what: 'control planes of driver workload, by a Cluster in a hub with one real node and the images on it, until ControlPlaneReady and until nothing is left',
  run,
};

async function run(): Promise<BenchResult> {
  const reason = whyNoNodes();
  if (reason !== undefined) throw new Error(reason);
  const parent = await mkdtemp(join(tmpdir(), 'kubenode-bench-pods-'));
  const shared = await openRun();
  const tearDown = await setup();
  try {
    const hub = await startHub(parent, shared);
    try {
      return await measure(hub);
    } finally {
      await hub.stop();
    }
  } finally {
    await tearDown?.();
    await closeRun(shared);
    await rm(parent, { recursive: true, force: true });
  }
}

/** Hosting itself is started for the first one, which is not counted. */
async function measure(hub: PodHub): Promise<BenchResult> {
  await createPlane(hub, 'first');
  await deletePlane(hub, 'first');
  const created: number[] = [];
  const deleted: number[] = [];
  let left = 0;
  for (const name of Array.from({ length: PLANES }, (_, index) => `ci-${index + 1}`)) {
    // oxlint-disable-next-line no-await-in-loop -- side by side they would measure each other
    created.push(await createPlane(hub, name));
    // oxlint-disable-next-line no-await-in-loop -- side by side they would measure each other
    deleted.push(await deletePlane(hub, name));
    // oxlint-disable-next-line no-await-in-loop -- side by side they would measure each other
    left += (await leftovers(hub, name)).length;
  }
  const available = await measureAvailable(hub);
  const createP95Seconds = percentile(created, 0.95);
  const deleteP95Seconds = percentile(deleted, 0.95);
  return {
    measured: {
      createP50Seconds: percentile(created, 0.5),
      createP95Seconds,
      deleteP50Seconds: percentile(deleted, 0.5),
      deleteP95Seconds,
      ...available,
    },
    baseline: {},
    ratios: {},
    gates: [
      { what: 'seconds to create one (p95)', value: createP95Seconds, atMost: 60 },
      { what: 'seconds to delete one (p95)', value: deleteP95Seconds, atMost: 30 },
      { what: 'objects left behind', value: left, atMost: 0 },
      {
        what: 'pods of one with three members of etcd and two API servers',
        value: available.availablePods,
        atMost: 15,
      },
    ],
    setting: { planes: PLANES },
  };
}

interface AvailablePlane {
  readonly availableCreateSeconds: number;
  readonly availablePods: number;
  readonly availableCpuMillis: number;
  readonly availableRequestMiB: number;
  /** What processes share is counted once. */
  readonly availableMiB: number;
}

/** Measures one that serves without any member: three members of etcd and two API servers, idle as it is after its creation. */
async function measureAvailable(hub: PodHub): Promise<AvailablePlane> {
  const name = 'available';
  const availableCreateSeconds = await createPlane(hub, name, AVAILABLE as Partial<ClusterHosted>);
  const namespace = planeNamespace(name);
  const { items } = await hub.server.client.list(PODS, { namespace });
  const requests = items.flatMap((pod) => listAt(pod, 'spec', 'containers').map(requestsOf));
  const availableMiB = await measureMemory(hub);
  await deletePlane(hub, name);
  return {
    availableCreateSeconds,
    availablePods: items.length,
    availableCpuMillis: sumOf(requests.map(({ cpuMillis }) => cpuMillis)),
    availableRequestMiB: sumOf(requests.map(({ memoryMiB }) => memoryMiB)),
    availableMiB,
  };
}

const AVAILABLE = { replicas: 2, etcd: { storageGiB: 1, replicas: 3 } };

/** The programs of control planes are those whose flags name this folder; the brackets keep the shell out of them. */
const PSS = `for p in /proc/[0-9]*; do
  if tr '\\0' ' ' < "$p/cmdline" 2>/dev/null | grep -q -- '=[/]etc/kubernetes/pki/'; then grep '^Pss:' "$p/smaps_rollup"; fi
done`;

async function measureMemory({ node }: PodHub): Promise<number> {
  const { stdout } = await node.run('sh', '-c', PSS);
  const kibibytes = [...stdout.matchAll(/^Pss:\s+(?<size>\d+)/gm)].map(({ groups }) =>
    Number(groups?.['size']),
  );
  if (kibibytes.length === 0) throw new Error('no program of the control plane was found');
  return Math.round(sumOf(kibibytes) / 1024);
}

/** As the driver writes them. */
function requestsOf(container: unknown): { readonly cpuMillis: number; readonly memoryMiB: number } {
  const text = (name: string): string => textAt(container, 'resources', 'requests', name) ?? '0';
  return { cpuMillis: Number.parseInt(text('cpu'), 10), memoryMiB: Number.parseInt(text('memory'), 10) };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

async function startHub(parent: string, shared: Run): Promise<PodHub> {
  const folder = join(parent, 'hub');
  const image = join(parent, 'image');
  await Promise.all([mkdir(folder), mkdir(image)]);
  const hub = await startPodHub({
    folder,
    startServer: (options) => startServer(shared, options),
    kubenodeArchive: (name) => imitateProductImage(image, name, ''),
  });
  try {
    await install(hub);
    return hub;
  } catch (error) {
    await hub.stop();
    throw error;
  }
}

async function install(hub: PodHub): Promise<void> {
  const args = [...hostingArgs(hub), '--kubeconfig', hub.server.kubeconfig];
  await promisify(execFile)(execPath, [...KUBENODE_FLAGS, 'src/cli/main.ts', ...args], { env: shellEnv() });
}
