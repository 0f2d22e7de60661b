/** One agent with twenty components, and two thousand simulated ones, with a real API server. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { install, installation } from '../src/api/install/install.ts';
import { createSystemClock } from '../src/os/system-clock.ts';
import { closeRun, openRun } from '../test/support/control-plane-run.ts';
import { type ApiServer, startServer } from '../test/support/control-plane-server.ts';
import { type FleetLoad, measureFleet } from './agent/fleet.ts';
import { measureOne, type OneAgent } from './agent/one.ts';
import type { Bench, BenchResult } from './bench.ts';

const AGENTS = Number(env['KUBENODE_BENCH_AGENTS'] ?? 2000);

export const bench: Bench = {
  name: 'agent',
  what: 'the bundle of the agent with twenty components, against a process that only sleeps; requests of simulated agents',
  run,
};

async function run(): Promise<BenchResult> {
  const folder = await mkdtemp(join(tmpdir(), 'kubenode-bench-agent-'));
  const shared = await openRun();
  const server = await startServer(shared);
  try {
    await installInto(server);
    const one = await measureOne(server, folder);
    return resultOf(one, await measureFleet(server, AGENTS));
  } finally {
    await server.stop();
    await closeRun(shared);
    await rm(folder, { recursive: true, force: true });
  }
}

async function installInto(server: ApiServer): Promise<void> {
  const objects = installation().filter(({ metadata }) => !metadata.name.includes('components-writer'));
  const results = await install(server.client, { clock: createSystemClock(), objects });
  const errors = results.flatMap(({ error }) => error ?? []);
  if (errors.length > 0) throw new AggregateError(errors, 'the installation failed');
}

function resultOf({ bareNodeMiB, ...one }: OneAgent, fleet: FleetLoad): BenchResult {
  return {
    measured: { ...one, ...fleet },
    baseline: { residentMiB: bareNodeMiB },
    ratios: { residentMiB: one.residentMiB / bareNodeMiB },
    gates: [
      { what: 'resident MiB with 20 components', value: one.residentMiB, atMost: 70 },
      { what: 'share of one core when idle', value: one.idleCpuShare, atMost: 0.005 },
      { what: 'ms until an edited file is as declared', value: one.writeBackMs, atMost: 2000 },
      { what: 'ms until a unit that ended runs', value: one.startMs, atMost: 5000 },
      {
        what: 'ms until a version that fails is rolled back from the cache',
        value: one.rollbackMs,
        atMost: 30_000,
      },
      { what: 'requests per agent and second when idle', value: fleet.idlePerAgent, atMost: 0.2 },
      {
        what: 'requests per second of agents that return to a restarted server',
        value: fleet.reconnectPerSecond,
        atMost: 200,
      },
      { what: 'seconds until all agents returned', value: fleet.reconnectSeconds, atMost: 120 },
    ],
    setting: { agents: AGENTS },
  };
}
