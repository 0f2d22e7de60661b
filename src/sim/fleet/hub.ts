/** The hub of a simulated fleet: processes that lead one after the other, end, sleep and come back, and a Lease that may be restored. */
import type { FleetPolicy, FoundCause } from '../../api/generated/types.ts';
import { API_VERSION } from '../../api/version.ts';
import { KubeError } from '../../kube/client/errors.ts';
import {
  type AllowanceLeader,
  type ClusterPort,
  type ClusterReading,
  createAllowanceLeader,
} from '../../sync/fleetlimits/leader.ts';
import type { Random } from '../random.ts';
import { type ClusterOfFleet, storeAllowance } from './cluster.ts';
import { FLEET_LIMITS } from './limits.ts';

interface Process {
  readonly leader: AllowanceLeader;
  /** The last readings: a process that sleeps continues with them. */
  readonly readings: Map<string, { readonly version: number; readonly reading: ClusterReading }>;
}

export interface SimulatedHub {
  /** Reconciles as the leader, and now and then as a process that led before and does not know yet. */
  reconcile(): Promise<void>;
  /** The leader ends; another one follows after a while. */
  crash(downMs: number): void;
  /** The leader sleeps while another one takes over, and wakes up once. */
  sleep(downMs: number): void;
  /** The Lease comes from a backup: its epoch is one that was used before. */
  restore(): void;
  isDown(): boolean;
  isStopped: boolean;
}

export interface HubOptions {
  readonly clusters: readonly ClusterOfFleet[];
  readonly random: Random;
  readonly nowMs: () => number;
}

const UID = '6f2a1c1e-0000-4000-8000-000000000001';
const WRITE_FAULTS = 0.05;
const POLICY = 'fleet';

export function createSimulatedHub({ clusters, random, nowMs }: HubOptions): SimulatedHub {
  const clock = { now: () => new Date(nowMs()) };
  let epoch = 1;
  let current: Process | undefined = start();
  let sleeper: Process | undefined;
  let downUntilMs = 0;
  /** The status of the policy. */
  let record: readonly FoundCause[] = [];
  const policies = (): readonly FleetPolicy[] => [fleetPolicy(hub.isStopped, record)];
  const hub: SimulatedHub = {
    async reconcile() {
      const late = sleeper;
      if (late && random.chance(0.2)) {
        sleeper = undefined;
        await late.leader.reconcile(policies(), ports(late, true));
      }
      if (hub.isDown()) return;
      current ??= start();
      const { epochAbove, causes } = await current.leader.reconcile(policies(), ports(current, false));
      record = causes.get(POLICY) ?? [];
      if (epochAbove === undefined) return;
      epoch = Math.max(epoch, epochAbove);
      current = undefined;
    },
    crash(downMs) {
      current = undefined;
      downUntilMs = nowMs() + downMs;
    },
    sleep(downMs) {
      sleeper = current;
      current = undefined;
      downUntilMs = nowMs() + downMs;
    },
    restore() {
      epoch = Math.max(1, epoch - 3);
      record = [];
      current = undefined;
    },
    isDown: () => nowMs() < downUntilMs,
    isStopped: false,
  };
  return hub;

  function start(): Process {
    epoch += 1;
    return {
      leader: createAllowanceLeader({ hub: UID, epoch, clock, failed: () => {} }),
      readings: new Map(),
    };
  }

  function ports(process: Process, isLate: boolean): readonly ClusterPort[] {
    return clusters.map((cluster) => ({
      name: cluster.name,
      facts: () => ({ name: cluster.name, labels: {}, region: cluster.region }),
      read: () => read(process, cluster, isLate),
      write: (spec) => write(process, cluster, spec),
    }));
  }

  /** A process that slept sees what it saw before it fell asleep. */
  function read({ readings }: Process, cluster: ClusterOfFleet, isLate: boolean): ClusterReading {
    const known = readings.get(cluster.name);
    if (isLate && known) return known.reading;
    if (cluster.cutSinceMs !== undefined) return { because: 'the link is cut' };
    const reading = { allowance: cluster.allowance };
    readings.set(cluster.name, { version: cluster.version, reading });
    return reading;
  }

  async function write(
    { readings }: Process,
    cluster: ClusterOfFleet,
    spec: Parameters<ClusterPort['write']>[0],
  ): Promise<'Written' | 'NotWritten'> {
    await Promise.resolve();
    const fault = random.chance(WRITE_FAULTS) ? random.below(2) : undefined;
    if (cluster.cutSinceMs !== undefined || fault === 0) {
      throw new KubeError('Unreachable', 'the write was lost');
    }
    if (readings.get(cluster.name)?.version !== cluster.version) return 'NotWritten';
    storeAllowance(cluster, spec);
    if (fault === 1) throw new KubeError('Timeout', 'the answer was lost');
    return 'Written';
  }
}

function fleetPolicy(isStopped: boolean, causes: readonly FoundCause[]): FleetPolicy {
  const { clusters, regions, reboots, windowSeconds, allowanceSeconds } = FLEET_LIMITS;
  const { failingClusters, failedWithinSeconds: withinSeconds, holdSeconds } = FLEET_LIMITS;
  const stop = { engaged: true, scope: 'All', by: 'simulator', reason: 'drill' } as const;
  return {
    apiVersion: API_VERSION,
    kind: 'FleetPolicy',
    metadata: { name: POLICY },
    spec: {
      clusterSelector: { all: true },
      killSwitch: isStopped ? stop : { engaged: false, scope: 'All' },
      concurrency: [
        { name: 'clusters', per: 'Cluster', max: clusters, floor: 1 },
        { name: 'regions', per: 'Region', max: regions, floor: 1 },
      ],
      rates: [{ name: 'reboots', actions: ['Reboot'], max: reboots, windowSeconds, floor: 1 }],
      allowanceSeconds,
      cutOff: { countSeconds: 3600 },
      commonCause: { clusters: failingClusters, withinSeconds, holdSeconds, ignored: [] },
    },
    status: { conditions: [], causes },
  };
}
