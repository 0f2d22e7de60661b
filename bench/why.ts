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
import { startServer } from '../test/support/control-plane-server.ts';
import { testIo } from '../test/support/test-io.ts';
import { type Bench, type BenchResult, percentile } from './bench.ts';
import { createNodes, NODES, nodeOf } from './reflector/nodes.ts';

const COUNT = 10_000;
const AT_ONCE = 16;
const ROUNDS = 5;
const clock = createSystemClock();

export const bench: Bench = {
  name: 'why',
  what: `kubenode why node with ${COUNT} Nodes of 6 KB and their Machines, against a bare paged list of both`,
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
    await createNodes(server.client, COUNT);
    await createMachines(server.client);
    const why: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      bare.push(await timeOf(() => listBoth(server.client)));
      why.push(await timeOf(() => ask(server.kubeconfig, round)));
    }
    return resultOf(percentile(why, 0.5), percentile(bare, 0.5));
  } finally {
    await server.stop();
    await closeRun(shared);
  }
}

function resultOf(whyMs: number, listMs: number): BenchResult {
  return {
    measured: { whyMs },
    baseline: { listMs },
    ratios: { whyOverList: whyMs / listMs },
    gates: [{ what: 'kubenode why, in ms', value: whyMs, atMost: 1000 }],
    setting: { nodes: COUNT, rounds: ROUNDS },
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

async function listBoth(client: Client): Promise<void> {
  await Promise.all([NODES, MACHINES].map((resource) => listAll(client, resource)));
}

async function listAll(client: Client, resource: Resource): Promise<void> {
  let read = 0;
  for await (const { items } of client.pages(resource, { limit: 500 })) read += items.length;
  if (read !== COUNT) throw new Error(`${read} ${resource.plural} were listed`);
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

async function createMachines(client: Client): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < COUNT) {
      const { name } = nodeOf(next).metadata;
      next += 1;
      const { apiVersion, kind, spec } = machine(name);
      await client.create(MACHINES, {
        apiVersion,
        kind,
        metadata: { name },
        spec: { ...spec, components: [] },
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
