/** Computes how the limits over clusters bound the rollouts of a plan: what they need at least, and how long that takes at least. Pure. */
import { durationText } from '../../../api/elapsed.ts';
import type { Cluster, FleetPolicy } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { declaredFleetLimits } from '../../../rollout/fleet-words.ts';
import {
  clusterFacts,
  fleetLimitsOf,
  type LimitOfFleet,
  type LinkedCluster,
} from '../../../sync/fleetlimits/fleet.ts';
import { countOfClusters, type FleetLimitBound } from '../../../sync/preview/fleet-limits.ts';
import type { TargetPreview } from '../../../sync/preview/preview.ts';
import type { TargetRollouts } from '../../../sync/preview/rollouts.ts';

export interface FleetBoundInput {
  /** The policies that are in the hub after the commit. */
  readonly policies: readonly FleetPolicy[];
  /** The clusters that are in the hub after the commit. */
  readonly clusters: readonly Cluster[];
  readonly targets: readonly TargetPreview[];
}

/** The acts of rollouts in one cluster. Undefined: its machines are not known. */
interface DisturbedCluster {
  readonly facts: LinkedCluster;
  /** Acts of the rollouts, one for each machine. */
  readonly acts?: number;
  /** Those of them that take a node down. */
  readonly nodeActs?: number;
}

/** Returns the limits that select a cluster in which rollouts of the plan begin, or may begin. */
export function planFleetBounds({
  policies,
  clusters,
  targets,
}: FleetBoundInput): readonly FleetLimitBound[] {
  const facts = clusters.map(factsOf);
  const disturbed = facts.flatMap((each) => {
    const target = targets.find((one) => one.target === each.name);
    return target ? disturbedBy(each, target) : [];
  });
  const texts = new Map(policies.flatMap(declaredFleetLimits).map(({ id, counts }) => [id, counts]));
  return fleetLimitsOf(policies).flatMap((limit) => {
    const own = disturbed.filter(({ facts: cluster }) => limit.selects(cluster));
    if (own.length === 0) return [];
    const counts = texts.get(limit.id) ?? limit.per;
    return limit.kind === 'Rate' ? [rateBound(limit, counts, own)] : [workBound(limit, counts, own, facts)];
  });
}

/** The planner of limits needs more of a cluster than its labels and places, none of which is read here. */
function factsOf(cluster: Cluster): LinkedCluster {
  return { ...clusterFacts(cluster), state: 'Unread', since: new Date(0), attempts: [], adoptable: [] };
}

function disturbedBy(facts: LinkedCluster, { by, rollouts }: TargetPreview): readonly DisturbedCluster[] {
  if (by === 'unknown' || rollouts?.state === 'Unknown') return [{ facts }];
  const { acts, nodeActs } = actsOf(rollouts);
  return acts > 0 ? [{ facts, acts, nodeActs }] : [];
}

function actsOf(rollouts: Extract<TargetRollouts, { state: 'Known' }> | undefined): {
  readonly acts: number;
  readonly nodeActs: number;
} {
  const sets = rollouts?.sets ?? [];
  return {
    acts: sets.reduce((sum, { grants }) => sum + grants, 0),
    nodeActs: sets.reduce((sum, { drains }) => sum + drains, 0),
  };
}

function workBound(
  limit: LimitOfFleet,
  counts: string,
  disturbed: readonly DisturbedCluster[],
  all: readonly LinkedCluster[],
): FleetLimitBound {
  const { id, max } = limit;
  const groups = (clusters: readonly LinkedCluster[]): number => new Set(clusters.map(limit.groupOf)).size;
  const total = groups(all.filter(limit.selects));
  const inWork = disturbed.filter(({ nodeActs = 0 }) => nodeActs > 0);
  const needed = groups(inWork.map(({ facts }) => facts));
  const unknownClusters = unknownOf(disturbed);
  const leastTurns = Math.ceil(needed / max);
  const effect =
    leastTurns > 1 ? `in at least ${leastTurns} turns` : 'none waits for another one of this plan';
  const need = needed > 0 ? `this plan disturbs ${needed}, ${effect}` : 'this plan disturbs none';
  const share = total > max ? `${max} of ${total}` : `${max}`;
  const because = `at most ${share} ${counts} (${id}): ${need}${unknownText(unknownClusters)}`;
  return { id, counts, max, needed, total, unknownClusters, leastTurns, because };
}

function rateBound(
  limit: LimitOfFleet,
  counts: string,
  disturbed: readonly DisturbedCluster[],
): FleetLimitBound {
  const { id, max, windowSeconds = 0, actions } = limit;
  const head = `at most ${max} ${counts} (${id})`;
  const isCounted = actions.length === 0 || actions.includes('UpdateComponent');
  if (!isCounted) {
    const because = `${head}: counts repairs, and none of the rollouts of this plan`;
    return { id, counts, max, needed: 0, unknownClusters: 0, leastSeconds: 0, because };
  }
  const needed = disturbed.reduce((sum, each) => sum + (countedActs(limit, each) ?? 0), 0);
  const unknownClusters = unknownOf(disturbed);
  // The acts of one period may begin at once, and those of the next one when it has passed.
  const leastSeconds = Math.max(0, Math.ceil(needed / max) - 1) * windowSeconds;
  const time = leastSeconds > 0 ? `so at least ${durationText(leastSeconds)}` : 'which fit into one period';
  const need = needed > 0 ? `this plan needs ${needed}, ${time}` : 'this plan needs none';
  const because = `${head}: ${need}${unknownText(unknownClusters)}`;
  return { id, counts, max, needed, unknownClusters, ...optional('leastSeconds', leastSeconds), because };
}

/** A rate that names the act counts it whatever it disturbs. */
function countedActs({ actions }: LimitOfFleet, { acts, nodeActs }: DisturbedCluster): number | undefined {
  return actions.length === 0 ? nodeActs : acts;
}

function unknownOf(disturbed: readonly DisturbedCluster[]): number {
  return disturbed.filter(({ acts }) => acts === undefined).length;
}

function unknownText(clusters: number): string {
  return clusters === 0 ? '' : `; not known for ${countOfClusters(clusters)}`;
}
