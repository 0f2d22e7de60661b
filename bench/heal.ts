/** Machines of the demo fleet whose kernels hang: from the lines in a log to the condition, the first step, and the machine in service. */
import { loadavg } from 'node:os';
import { env, stderr } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { MACHINES } from '../src/api/generated/resources.ts';
import type { Machine } from '../src/api/generated/types.ts';
import type { Client } from '../src/kube/client/client.ts';
import { NODES } from '../src/kube/objects/core-kinds.ts';
import { type Bench, type BenchResult, percentile } from './bench.ts';
import { type Demo, openDemo } from './heal/demo.ts';
import { momentOf, type Observed, observe } from './heal/observe.ts';
import { measureRepair, type RepairTimes, statusOf } from './heal/repair.ts';

/** The last stage, with the most machines. */
const CLUSTER = 'prod';
const REPAIRS = Number(env['KUBENODE_BENCH_REPAIRS'] ?? 8);
/** An act counts for so long after its end, and the policy of the demo allows one at a time. */
const LINGER_MS = 12_000;
const PINGS = 20;

export const bench: Bench = {
  name: 'heal',
  what: 'the demo fleet repairs machines whose kernels hang, one after the other, with a reboot of the sandbox and times that are shortened; against an annotation of a Node until a watch shows it',
  run,
};

async function run(): Promise<BenchResult> {
  stderr.write('  the demo fleet starts\n');
  const demo = await openDemo(CLUSTER);
  try {
    const client = await demo.connectTo(CLUSTER);
    const observed = await observe(client);
    try {
      const times = await repairAll({ demo, client, observed });
      return resultOf(times, await pingAll(client, observed));
    } finally {
      await observed.stop();
    }
  } finally {
    await demo.close();
  }
}

interface Parts {
  readonly demo: Demo;
  readonly client: Client;
  readonly observed: Observed;
}

async function repairAll({ demo, client, observed }: Parts): Promise<readonly RepairTimes[]> {
  const { items } = await client.list<Machine>(MACHINES);
  const all: RepairTimes[] = [];
  for (let repair = 0; repair < REPAIRS; repair += 1) {
    const { name, uid = '' } = items[repair % items.length]?.metadata ?? { name: '' };
    await momentOf(
      observed.nodes,
      (node) => node.metadata.name === name && statusOf(node) === 'False',
      `${name}: well`,
    );
    const times = await measureRepair(observed, name, demo.kernelLog(CLUSTER, uid));
    stderr.write(`  ${name}: ${secondsText(times)}\n`);
    all.push(times);
    await sleep(LINGER_MS);
  }
  return all;
}

function secondsText(times: RepairTimes): string {
  return Object.entries(times)
    .map(([name, ms]: [string, number]) => `${name.replace(/Ms$/, '')} ${(ms / 1000).toFixed(2)} s`)
    .join(', ');
}

/** The least that anything takes that is written to a Node and read by a watch. */
async function pingAll(client: Client, { nodes }: Observed): Promise<readonly number[]> {
  const [node] = nodes.store.list();
  const { name = '' } = node?.metadata ?? {};
  const all: number[] = [];
  for (let ping = 0; ping < PINGS; ping += 1) {
    const value = String(ping);
    const startedMs = performance.now();
    const body = { metadata: { annotations: { 'bench.example.com/ping': value } } };
    const [seenMs] = await Promise.all([
      momentOf(
        nodes,
        ({ metadata }) =>
          metadata.name === name && metadata.annotations?.['bench.example.com/ping'] === value,
        'ping',
      ),
      client.patch(NODES, { name }, { type: 'merge', body }),
    ]);
    all.push(seenMs - startedMs);
  }
  return all;
}

function resultOf(times: readonly RepairTimes[], pings: readonly number[]): BenchResult {
  const of = (name: keyof RepairTimes): readonly number[] => times.map((each) => each[name]);
  const most = (name: keyof RepairTimes): number => Math.max(...of(name));
  const names = ['conditionMs', 'firstStepMs', 'verifiedMs', 'healedMs'] as const;
  const measured = names.flatMap((name) => [
    [name.replace('Ms', 'P50Ms'), percentile(of(name), 0.5)] as const,
    [name.replace('Ms', 'MostMs'), most(name)] as const,
  ]);
  const pingMs = percentile(pings, 0.5);
  return {
    measured: Object.fromEntries(measured),
    baseline: { conditionP50Ms: pingMs },
    ratios: { conditionP50Ms: percentile(of('conditionMs'), 0.5) / pingMs },
    gates: [
      { what: 'ms from a line in the log to the condition', value: most('conditionMs'), atMost: 2000 },
      { what: 'ms to the first step of the repair', value: most('firstStepMs'), atMost: 10_000 },
      { what: 'ms until healed, verified and in service', value: most('healedMs'), atMost: 30_000 },
    ],
    setting: { repairs: times.length, loadAverage: loadavg()[0] ?? 0 },
  };
}
