/** Time to start one more local cluster with our kinds, against a bare kube-apiserver until it is ready. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeRun, openRun } from '../test/support/control-plane-run.ts';
import { startServer } from '../test/support/control-plane-server.ts';
import { localFleet } from '../test/support/local-fleet.ts';
import { type Bench, type BenchResult } from './bench.ts';

const ROUNDS = 3;

export const bench: Bench = {
  name: 'local',
  what: 'one more cluster by `kubenode local up`, until its kinds are installed, against a bare kube-apiserver until it is ready',
  run,
};

async function run(): Promise<BenchResult> {
  const parent = await mkdtemp(join(tmpdir(), 'kubenode-bench-local-'));
  const fleet = localFleet(parent);
  const shared = await openRun();
  try {
    const firstSeconds = await secondsOf(() => fleet.ok('up'));
    const rounds: { readonly ours: number; readonly bare: number }[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const ours = await secondsOf(() => fleet.ok('up', '--clusters', String(round + 1)));
      const bare = await secondsOf(async () => (await startServer(shared)).stop());
      rounds.push({ ours, bare });
    }
    const seconds = median(rounds.map(({ ours }) => ours));
    const bareSeconds = median(rounds.map(({ bare }) => bare));
    return {
      measured: { seconds, firstSeconds, healthySeconds: await secondsOf(() => fleet.ok('up')) },
      baseline: { seconds: bareSeconds },
      ratios: { seconds: seconds / bareSeconds },
      gates: [{ what: 'seconds for one more cluster', value: seconds, atMost: 10 }],
      setting: { rounds: ROUNDS },
    };
  } finally {
    await closeRun(shared);
    await fleet.clear();
    await rm(parent, { recursive: true, force: true });
  }
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
