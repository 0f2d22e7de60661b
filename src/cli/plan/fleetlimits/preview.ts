/** Previews what a commit means under the limits over clusters: their changes, the stops that hold, and how they bound its rollouts. Pure. */
import type { Cluster, FleetPolicy } from '../../../api/generated/types.ts';
import { selectableLabels } from '../../../api/status/cluster-labels.ts';
import { isEngaged } from '../../../api/status/pauses.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { isSelected } from '../../../kube/objects/selector.ts';
import type { FleetLimitsPreview, FleetStopPreview } from '../../../sync/preview/fleet-limits.ts';
import type { TargetPreview } from '../../../sync/preview/preview.ts';
import type { Rendered } from '../../../sync/rendered.ts';
import { planFleetBounds } from './bounds.ts';
import { planPolicyChanges } from './changes.ts';
import { declaredClusterObjects, declaredFleetPolicies } from './declared.ts';

export interface FleetLimitsInput {
  readonly from: Rendered | undefined;
  readonly to: Rendered;
  readonly targets: readonly TargetPreview[];
  /** The objects of the hub. Absent: it was not read, so that only what git declares is known. */
  readonly hub?: { readonly clusters: readonly Cluster[]; readonly fleetPolicies: readonly FleetPolicy[] };
  readonly now: Date;
}

/** Undefined: no limit over clusters concerns the commit. */
export function previewFleetLimits({
  from,
  to,
  targets,
  hub,
  now,
}: FleetLimitsInput): FleetLimitsPreview | undefined {
  const before = declaredFleetPolicies(from);
  const after = declaredFleetPolicies(to);
  const clusters = afterCommit(hub?.clusters, declaredClusterObjects(from), declaredClusterObjects(to));
  const policies = afterCommit(hub?.fleetPolicies, before, after);
  const changes = planPolicyChanges({ before, after, clusters });
  const stops = stopsOf(policies, { clusters, targets, now });
  const bounds = planFleetBounds({ policies, clusters, targets });
  return changes.length + stops.length + bounds.length > 0 ? { changes, stops, bounds } : undefined;
}

/** Returns the objects of the hub that will be there: what the commit declares, and those that git does not own, as the stop of a person. */
function afterCommit<T extends KubeObject>(
  hub: readonly T[] = [],
  before: readonly T[],
  after: readonly T[],
): readonly T[] {
  const declared = new Set([...before, ...after].map(({ metadata }) => metadata.name));
  return [...after, ...hub.filter(({ metadata }) => !declared.has(metadata.name))];
}

function stopsOf(
  policies: readonly FleetPolicy[],
  {
    clusters,
    targets,
    now,
  }: { readonly clusters: readonly Cluster[] } & Pick<FleetLimitsInput, 'targets' | 'now'>,
): readonly FleetStopPreview[] {
  const changed = new Set(
    targets.filter(({ units, rollouts }) => units.length > 0 || rollouts).map(({ target }) => target),
  );
  const planned = clusters.filter(({ metadata }) => changed.has(metadata.name));
  return policies.flatMap(({ metadata, spec: { killSwitch, clusterSelector } }) => {
    const stopped = planned.filter((each) => isSelected(clusterSelector, selectableLabels(each))).length;
    if (stopped === 0 || !isEngaged(killSwitch, now)) return [];
    const { by = 'unknown', reason = 'no reason given' } = killSwitch;
    return [{ policy: metadata.name, by, reason, clusters: stopped }];
  });
}
