/** Judges each act of a simulated fleet by what all clusters really do, and never by what the hub believes. */
import type { Denial } from '../../api/grants.ts';
import type { Violation } from '../run.ts';
import type { ClusterOfFleet, FleetAct } from './cluster.ts';
import type { SimulatedHub } from './hub.ts';
import { FLEET_LIMITS } from './limits.ts';

/** The part of a run that is judged. */
export interface JudgedClusters {
  readonly clusters: readonly ClusterOfFleet[];
  readonly hub: Pick<SimulatedHub, 'isDown' | 'isStopped'>;
  readonly nowMs: number;
}

export interface FleetJudge {
  readonly acts: number;
  readonly actsUnderFloor: number;
  readonly longestWaitSeconds: number;
  readonly violations: readonly Violation[];
  /** Records an act that begins, and what it breaks. */
  begun(run: JudgedClusters, cluster: ClusterOfFleet, act: Omit<FleetAct, 'isUnderFloor'>): void;
  /** Forgets what the cluster can no longer know: its ledger was lost, and the newest acts were not reported yet. */
  ledgerLost(run: JudgedClusters, cluster: string): void;
  denied(run: JudgedClusters, cluster: ClusterOfFleet, denial: Denial): void;
  /** Judges once each step what must not last. */
  watch(run: JudgedClusters): void;
}

/** No act begins later than this after its cluster has the stop: the watch of a replica may be late. */
const STOP_MS = 660_000;
/** How late a replica may see what was reported. */
const UNREPORTED_MS = 900_000;
/** While everything works, a request is fulfilled within this time: acts of others last up to 20 minutes. */
const PATIENCE_MS = 4 * 3_600_000;

/** The hub notices within this time: reports and watches are late. */
const NOTICE_MS = 1_800_000;

interface Reboot {
  readonly cluster: string;
  readonly atMs: number;
}

export function createFleetJudge(): FleetJudge {
  const violations: Violation[] = [];
  let reboots: readonly Reboot[] = [];
  let acts = 0;
  let actsUnderFloor = 0;
  let longestWaitSeconds = 0;
  let wellSinceMs = 0;

  return {
    get acts() {
      return acts;
    },
    get actsUnderFloor() {
      return actsUnderFloor;
    },
    get longestWaitSeconds() {
      return longestWaitSeconds;
    },
    violations,
    begun(run, cluster, begun) {
      const act = { ...begun, isUnderFloor: isUnderFloor(run, cluster) };
      acts += 1;
      if (act.isUnderFloor) actsUnderFloor += 1;
      if (!act.isUnderFloor && act.ask.action === 'Reboot') {
        reboots = [...reboots, { cluster: cluster.name, atMs: run.nowMs }];
      }
      cluster.acts.set(act.ask.machine, act);
      for (const what of broken(run, cluster, reboots)) report(run, act.ask.machine, what);
      if (bringsHeld(run, cluster, act)) {
        report(run, act.ask.machine, 'a version that failed in several clusters on a further machine');
      }
    },
    ledgerLost({ nowMs }, cluster) {
      reboots = reboots.filter((each) => each.cluster !== cluster || nowMs - each.atMs > UNREPORTED_MS);
    },
    denied(run, cluster, denial) {
      if (denial.reason !== 'FleetLimit' || !isFloorFree(run, cluster, denial)) return;
      report(run, cluster.name, 'a cluster without an allowance waits although its floor is free');
    },
    watch(run) {
      const { nowMs, hub, clusters } = run;
      const isWell =
        !hub.isDown() && !hub.isStopped && clusters.every(({ cutSinceMs }) => cutSinceMs === undefined);
      if (!isWell) wellSinceMs = nowMs;
      for (const name of unnoticed(run, wellSinceMs)) {
        report(run, name, 'a version that fails in several clusters is not held');
      }
      for (const { name, tasks } of clusters) {
        for (const { sinceMs } of tasks.values()) {
          const waitedMs = nowMs - Math.max(sinceMs, wellSinceMs);
          longestWaitSeconds = Math.max(longestWaitSeconds, waitedMs / 1000);
          if (waitedMs > PATIENCE_MS) report(run, name, 'an act waits for ever while everything works');
        }
      }
    },
  };

  function report({ nowMs }: JudgedClusters, machine: string, what: string): void {
    violations.push({ at: new Date(nowMs).toISOString(), machine, what });
  }
}

/** The allowance in the API server of the cluster has ended, or none ever came: no replica can have a valid one. */
function isUnderFloor({ nowMs }: JudgedClusters, { ledger }: ClusterOfFleet): boolean {
  const until = ledger.spec()?.allowance?.until;
  return until === undefined || Date.parse(until) <= nowMs;
}

function broken(run: JudgedClusters, cluster: ClusterOfFleet, reboots: readonly Reboot[]): readonly string[] {
  const { clusters, nowMs } = run;
  const working = clusters.filter(({ acts }) => [...acts.values()].some((act) => !act.isUnderFloor));
  const regions = new Set(working.map(({ region }) => region));
  const recent = reboots.filter(({ atMs }) => nowMs - atMs < FLEET_LIMITS.windowSeconds * 1000);
  const checks: readonly (readonly [boolean, string])[] = [
    [working.length > FLEET_LIMITS.clusters, 'more clusters in work than the fleet allows'],
    [regions.size > FLEET_LIMITS.regions, 'more regions in work than the fleet allows'],
    [recent.length > FLEET_LIMITS.reboots, 'more reboots in an hour than the fleet allows'],
    [isAfterStop(run, cluster), 'an act while the fleet is stopped'],
  ];
  return checks.flatMap(([isBroken, what]) => (isBroken ? [what] : []));
}

/** A cluster that the hub did not reach since the stop cannot know of it. */
function isAfterStop({ nowMs }: JudgedClusters, { stoppedSinceMs }: ClusterOfFleet): boolean {
  return stoppedSinceMs !== undefined && nowMs - stoppedSinceMs > STOP_MS;
}

function isFloorFree(run: JudgedClusters, cluster: ClusterOfFleet, { key = '' }: Denial): boolean {
  if (!isUnderFloor(run, cluster)) return false;
  if (!key.endsWith('/reboots')) return true;
  const counted = Object.entries(cluster.ledger.spec()?.rates ?? {}).some(([name]) => name.includes(key));
  return !counted;
}

/** A hold ends by itself, also where the hub is away. */
function bringsHeld({ nowMs }: JudgedClusters, { held }: ClusterOfFleet, { ask }: FleetAct): boolean {
  return (ask.brings ?? []).some((version) => {
    const hold = held.get(version);
    return hold !== undefined && nowMs - hold.sinceMs > STOP_MS && nowMs < hold.untilMs;
  });
}

/** Returns clusters that are not told what failed in others for long enough, while everything works. */
function unnoticed({ clusters, nowMs }: JudgedClusters, wellSinceMs: number): readonly string[] {
  if (nowMs - wellSinceMs < NOTICE_MS) return [];
  const { failingClusters, failedWithinSeconds } = FLEET_LIMITS;
  const failed = clusters.flatMap(({ failedAtMs }) =>
    [...failedAtMs].flatMap(([version, atMs]) => {
      const sinceMs = nowMs - atMs;
      return sinceMs > NOTICE_MS && sinceMs < failedWithinSeconds * 1000 ? [version] : [];
    }),
  );
  const several = [...new Set(failed)].filter(
    (version) => failed.filter((each) => each === version).length >= failingClusters,
  );
  return clusters.flatMap(({ name, held }) => (several.every((version) => held.has(version)) ? [] : [name]));
}
