/** `kubenode why` in a large cluster, against a bare paged list of the Nodes and Machines that it reads. */

import { DEFENDER_POLICIES, MACHINES } from '../src/api/generated/resources.ts';
import { install, installation } from '../src/api/install/install.ts';
import { FLEET_DEFAULT, MANAGER_SYNC, PRINCIPAL_SYNC } from '../src/api/names.ts';
import { runCommandLine } from '../src/cli/run.ts';
import type { Client } from '../src/kube/client/client.ts';
import { connect } from '../src/kube/client/connect.ts';
import type { Resource } from '../src/kube/objects/object.ts';
import { createPrincipal } from '../src/local/pki/principal.ts';
import { createSystemClock } from '../src/os/system-clock.ts';
import { machine } from '../test/support/builders.ts';
import { closeRun, openRun } from '../test/support/control-plane-run.ts';
import { type ApiServer, startServer } from '../test/support/control-plane-server.ts';
import { testIo } from '../test/support/test-io.ts';
import { type Bench, type BenchResult, percentile } from './bench.ts';
import { NODES, nodeOf } from './reflector/nodes.ts';

/** Of Nodes. The time grows with them: every Node is read, to count those out of service. */
const SIZES = [1000, 10_000] as const;
const [SMALL] = SIZES;
const AT_ONCE = 8;
const ROUNDS = 5;
const clock = createSystemClock();

export const bench: Bench = {
  name: 'why',
  what: `kubenode why node with ${SIZES.join(' and ')} Nodes of 6 KB and their Machines, against a bare paged list of both`,
  run,
};

async function run(): Promise<BenchResult> {
  const shared = await openRun();
  const server = await startServer(shared);
  try {
    await install(server.client, { clock, objects: installation() });
    await applyPolicy(
      await connect({ kubeconfig: await server.kubeconfigFor(createPrincipal(PRINCIPAL_SYNC)) }),
    );
    const measured: Record<string, number> = {};
    const baseline: Record<string, number> = {};
    for (const [index, size] of SIZES.entries()) {
      // oxlint-disable no-await-in-loop -- one size after the other
      await createFleet(server.client, { from: SIZES[index - 1] ?? 0, to: size });
      const { whyMs, listMs } = await measure(server, size);
      // oxlint-enable no-await-in-loop
      measured[`whyMs${size}`] = whyMs;
      baseline[`listMs${size}`] = listMs;
    }
    return resultOf(measured, baseline);
  } finally {
    await server.stop();
    await closeRun(shared);
  }
}

async function measure(
  { client, kubeconfig }: ApiServer,
  size: number,
): Promise<{ readonly whyMs: number; readonly listMs: number }> {
  const why: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    // oxlint-disable no-await-in-loop -- in parallel they would measure each other
    bare.push(await timeOf(() => listBoth(client, size)));
    why.push(await timeOf(() => ask(kubeconfig, round)));
    // oxlint-enable no-await-in-loop
  }
  return { whyMs: percentile(why, 0.5), listMs: percentile(bare, 0.5) };
}

function resultOf(measured: Record<string, number>, baseline: Record<string, number>): BenchResult {
  const ratios = SIZES.map((size) => [
    `whyOverList${size}`,
    (measured[`whyMs${size}`] ?? Number.NaN) / (baseline[`listMs${size}`] ?? Number.NaN),
  ]);
  const gate = {
    what: `kubenode why with ${SMALL} Nodes, in ms`,
    value: measured[`whyMs${SMALL}`] ?? Number.NaN,
    atMost: 1000,
  };
  return {
    measured,
    baseline,
    ratios: Object.fromEntries(ratios) as Record<string, number>,
    gates: [gate],
    setting: { rounds: ROUNDS },
  };
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function ask(kubeconfig: string, index: number): Promise<void> {
  const io = testIo({ env: { KUBECONFIG: kubeconfig } });
  const code = await runCommandLine(io, ['why', 'node', nodeOf(index).metadata.name]);
  if (code !== 0) throw new Error(io.stderr);
}

async function listBoth(client: Client, size: number): Promise<void> {
  await Promise.all([NODES, MACHINES].map((resource) => listAll(client, resource, size)));
}

async function listAll(client: Client, resource: Resource, size: number): Promise<void> {
  let read = 0;
  for await (const { items } of client.pages(resource, { limit: 500 })) read += items.length;
  if (read !== size) throw new Error(`${read} ${resource.plural} were listed`);
}

async function applyPolicy(client: Client): Promise<void> {
  const limits = ['Cluster', 'Zone', 'Pool'].map((per) => ({
    name: per.toLowerCase(),
    per,
    risks: ['Node'],
    max: '5%',
  }));
  const spec = { scope: { nodeSelector: { all: true } }, concurrency: limits };
  const object = {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: DEFENDER_POLICIES.kind,
    metadata: { name: FLEET_DEFAULT },
    spec,
  };
  await client.apply(DEFENDER_POLICIES, object, { fieldManager: MANAGER_SYNC });
  await client.close();
}

/** Each Node with its Machine. */
async function createFleet(client: Client, { from, to }: { from: number; to: number }): Promise<void> {
  let next = from;
  const worker = async (): Promise<void> => {
    while (next < to) {
      const node = nodeOf(next);
      next += 1;
      const { apiVersion, kind, spec } = machine(node.metadata.name);
      const metadata = { name: node.metadata.name };
      // oxlint-disable-next-line no-await-in-loop -- as many at once as there are workers
      await Promise.all([
        client.create(NODES, node, { fieldManager: 'kubelet' }),
        client.create(MACHINES, { apiVersion, kind, metadata, spec: { ...spec, components: [] } }),
      ]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
