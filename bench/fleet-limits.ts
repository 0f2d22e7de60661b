/** Allowances for 500 clusters: how many requests they cost in a busy hour, and how long the stop of all of them takes. */
import type { FleetAllowanceSpec, FleetPolicy } from '../src/api/generated/types.ts';
import { createSystemClock } from '../src/os/system-clock.ts';
import { createRandom, type Random } from '../src/sim/random.ts';
import {
  type AllowanceLeader,
  type ClusterPort,
  createAllowanceLeader,
} from '../src/sync/fleetlimits/leader.ts';
import { fleetAllowance, HUB } from '../test/defender/allowance/builders.ts';
import { CLUSTERS, fleetPolicy, REBOOT_RATE } from '../test/sync/fleetlimits/builders.ts';
import type { Bench, BenchResult } from './bench.ts';

const COUNT = 500;
const ROUNDS = 360;
const ROUND_MS = 10_000;
/** The answer of a cluster on another continent. */
const ANSWER_MS = 300;
const LIMITS = {
  ...REBOOT_RATE,
  concurrency: [{ name: 'clusters', per: 'Cluster', max: 25, floor: 1 }],
} as const;

export const bench: Bench = {
  name: 'fleet-limits',
  what: `allowances of ${COUNT} clusters for an hour, and the stop of all of them`,
  run,
};

/** A cluster that adopts at once what it gets, and asks for a share in one round of twenty. */
interface Stand {
  readonly port: ClusterPort;
  work(random: Random, now: Date): void;
  writes: number;
  answerMs: number;
}

async function run(): Promise<BenchResult> {
  const system = createSystemClock();
  const random = createRandom(7);
  const clock = { ms: Date.parse('2030-01-01T00:00:00Z'), now: () => new Date(clock.ms) };
  const stands = Array.from({ length: COUNT }, (_, index) => stand(`c${index}`, system));
  const leader = createAllowanceLeader({ hub: HUB, epoch: 1, clock });
  const policies = [fleetPolicy(LIMITS)];
  const began = process.cpuUsage();
  for (let round = 0; round < ROUNDS; round += 1) {
    clock.ms += ROUND_MS;
    for (const each of stands) each.work(random, clock.now());
    // oxlint-disable-next-line no-await-in-loop -- one round after the other
    await reconcile(leader, policies, stands);
  }
  const { user, system: kernel } = process.cpuUsage(began);
  const writes = stands.reduce((sum, each) => sum + each.writes, 0);
  const perMinute = writes / COUNT / ((ROUNDS * ROUND_MS) / 60_000);
  const stopMs = await stopAll(leader, stands, () => system.monotonicMs());
  const cpuMs = (user + kernel) / 1000 / ROUNDS;
  return {
    measured: { writesOfClusterAndMinute: perMinute, cpuMsOfReconcile: cpuMs, stopMs },
    baseline: {},
    ratios: {},
    gates: [
      { what: 'requests of a cluster and minute', value: perMinute, atMost: 2 },
      { what: 'ms until every cluster has the stop', value: stopMs, atMost: 10_000 },
    ],
    setting: { clusters: COUNT, answerMs: ANSWER_MS },
  };
}

async function stopAll(
  leader: AllowanceLeader,
  stands: readonly Stand[],
  nowMs: () => number,
): Promise<number> {
  for (const each of stands) each.answerMs = ANSWER_MS;
  const killSwitch = { engaged: true, scope: 'All', by: 'bench', reason: 'stop' } as const;
  const start = nowMs();
  await reconcile(leader, [fleetPolicy({ ...LIMITS, killSwitch })], stands);
  const ms = nowMs() - start;
  const stopped = stands.filter(({ port }) => isStopped(port));
  if (stopped.length < COUNT) throw new Error(`${stopped.length} of ${COUNT} clusters have the stop`);
  return ms;
}

function isStopped(port: ClusterPort): boolean {
  const reading = port.read();
  return 'allowance' in reading && reading.allowance !== 'None' && reading.allowance.spec.killSwitch.engaged;
}

async function reconcile(
  leader: AllowanceLeader,
  policies: readonly FleetPolicy[],
  stands: readonly Stand[],
): Promise<void> {
  await leader.reconcile(
    policies,
    stands.map(({ port }) => port),
  );
}

function stand(name: string, system: ReturnType<typeof createSystemClock>): Stand {
  let spec: FleetAllowanceSpec | undefined;
  let requestedSince: Date | undefined;
  let usedUntil = 0;
  let nowMs = 0;
  const own: Stand = {
    writes: 0,
    answerMs: 0,
    work(random, now) {
      nowMs = +now;
      if (requestedSince === undefined && random.chance(0.05)) requestedSince = now;
      const share = spec?.limits.find(({ id }) => id === CLUSTERS)?.share ?? 0;
      if (requestedSince === undefined || share === 0) return;
      requestedSince = undefined;
      usedUntil = +now + 300_000;
    },
    port: {
      name,
      facts: () => ({ name, labels: {} }),
      read: () => ({ allowance: spec ? adopted(spec) : 'None' }),
      async write(next) {
        own.writes += 1;
        if (own.answerMs > 0) await system.sleep(own.answerMs);
        spec = next;
        return 'Written';
      },
    },
  };
  return own;

  function adopted(adopting: FleetAllowanceSpec): ReturnType<typeof fleetAllowance> {
    const { hub, epoch, seq, until } = adopting;
    const isWorking = nowMs < usedUntil;
    const limits = adopting.limits.map(({ id, share }) => ({
      id,
      share,
      used: id === CLUSTERS && isWorking ? 1 : 0,
      requested: id === CLUSTERS && requestedSince !== undefined ? 1 : 0,
      ...(requestedSince === undefined ? {} : { requestedSince: requestedSince.toISOString() }),
    }));
    return fleetAllowance(adopting, { conditions: [], hub, epoch, seq, until, limits });
  }
}
