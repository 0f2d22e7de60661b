/** Hosted control planes by processes: how long they take to come and to go, and what they cost while they are idle. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, kill } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeRun, openRun } from '../test/support/control-plane-run.ts';
import { startServer } from '../test/support/control-plane-server.ts';
import { type Bench, type BenchResult, percentile } from './bench.ts';
import { type BenchHub, startBenchHub } from './hosting/hub.ts';
import { cpuSeconds, processesIn, proportionalMiB, residentMiB } from './hosting/usage.ts';

/** One takes 0.7 GB. */
const PLANES = Number(env['KUBENODE_BENCH_PLANES'] ?? 5);
const IDLE_SECONDS = 30;

export const bench: Bench = {
  name: 'hosting',
  what: 'control planes by `kubenode cluster create --wait` and `delete --wait`, against a bare kube-apiserver until it is ready; idle cost',
  run,
};

async function run(): Promise<BenchResult> {
  const parent = await mkdtemp(join(tmpdir(), 'kubenode-bench-hosting-'));
  const bareSeconds = await bareServerSeconds();
  const hub = await startBenchHub(parent);
  try {
    const names = Array.from({ length: PLANES }, (_, index) => `ci-${index + 1}`);
    const created = await secondsOfEach(names, (name) => hub.kubenode('cluster', 'create', name, '--wait'));
    const idle = await measureIdle(hub);
    const deleted = await secondsOfEach(names, (name) => hub.kubenode('cluster', 'delete', name, '--wait'));
    const left = (await processesIn(hub.folder)).length;
    return resultOf({ created, deleted, idle, left, bareSeconds });
  } finally {
    await hub.stop();
    // What a run that failed left behind.
    for (const pid of await processesIn(hub.folder)) kill(pid, 'SIGKILL');
    await rm(parent, { recursive: true, force: true });
  }
}

async function bareServerSeconds(): Promise<number> {
  const shared = await openRun();
  try {
    const [seconds = Number.NaN] = await secondsOfEach(['bare'], async () => {
      await (await startServer(shared)).stop();
    });
    return seconds;
  } finally {
    await closeRun(shared);
  }
}

async function secondsOfEach(
  names: readonly string[],
  work: (name: string) => Promise<void>,
): Promise<readonly number[]> {
  const seconds: number[] = [];
  for (const name of names) {
    const started = performance.now();
    // oxlint-disable-next-line no-await-in-loop -- side by side they would measure each other
    await work(name);
    seconds.push((performance.now() - started) / 1000);
  }
  return seconds;
}

interface IdleCost {
  readonly planeMiB: number;
  readonly hostingMiB: number;
  readonly hostingCpuShare: number;
  readonly planeCpuShare: number;
}

async function measureIdle({ pid, folder }: BenchHub): Promise<IdleCost> {
  const pids = await processesIn(folder);
  const before = [await cpuSeconds(pid), await cpuOf(pids)] as const;
  await sleep(IDLE_SECONDS * 1000);
  const after = [await cpuSeconds(pid), await cpuOf(pids)] as const;
  return {
    planeMiB: (await proportionalMiB(pids)) / PLANES,
    hostingMiB: await residentMiB(pid),
    hostingCpuShare: (after[0] - before[0]) / IDLE_SECONDS,
    planeCpuShare: (after[1] - before[1]) / IDLE_SECONDS / PLANES,
  };
}

async function cpuOf(pids: readonly number[]): Promise<number> {
  const each = await Promise.all(pids.map(cpuSeconds));
  return each.reduce((sum, seconds) => sum + seconds, 0);
}

interface Measured {
  readonly created: readonly number[];
  readonly deleted: readonly number[];
  readonly idle: IdleCost;
  readonly left: number;
  readonly bareSeconds: number;
}

function resultOf({ created, deleted, idle, left, bareSeconds }: Measured): BenchResult {
  const createP50Seconds = percentile(created, 0.5);
  const createP95Seconds = percentile(created, 0.95);
  const deleteP95Seconds = percentile(deleted, 0.95);
  return {
    measured: { createP50Seconds, createP95Seconds, deleteP95Seconds, ...idle },
    baseline: { bareSeconds },
    ratios: { createSeconds: createP50Seconds / bareSeconds },
    gates: [
      { what: 'seconds to create one (p95)', value: createP95Seconds, atMost: 15 },
      { what: 'seconds to delete one (p95)', value: deleteP95Seconds, atMost: 5 },
      { what: 'resident MiB of kubenode hosting', value: idle.hostingMiB, atMost: 150 },
      { what: 'share of one core of kubenode hosting', value: idle.hostingCpuShare, atMost: 0.05 },
      { what: 'processes left behind', value: left, atMost: 0 },
    ],
    setting: { planes: PLANES },
  };
}
