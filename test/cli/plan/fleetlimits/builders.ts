/** Clusters, commits and targets for the tests of a plan under limits over clusters. */
import type { Cluster, FleetPolicy } from '../../../../src/api/generated/types.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import type { TargetPreview } from '../../../../src/sync/preview/preview.ts';
import type { PlannedRollout } from '../../../../src/sync/preview/rollouts.ts';
import { HUB_TARGET, type Rendered } from '../../../../src/sync/rendered.ts';

export function clusterIn(region: string, name: string, labels: Record<string, string> = {}): Cluster {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Cluster',
    metadata: { name, labels },
    spec: { environment: 'prod', region },
  } as Cluster;
}

/** A commit that declares these objects in the hub. */
export function commitOf(...objects: readonly (KubeObject | FleetPolicy | Cluster)[]): Rendered {
  const unit = { unit: 'limits', digest: 'u', objects: objects.map((object) => ({ object, source: {} })) };
  return { commit: 'c', targets: [{ target: HUB_TARGET, units: [unit], digest: 't' }] };
}

export const UNCHANGED: Omit<TargetPreview, 'target'> = { by: 'live', units: [] };

export function rolloutOf(fields: Partial<PlannedRollout>): PlannedRollout {
  return {
    set: 'general',
    changes: [],
    selected: 10,
    batches: [],
    more: { batches: 0, machines: 0 },
    joining: { count: 0, names: [], class: 'None' },
    class: 'Drain',
    drains: 0,
    grants: 0,
    ...fields,
  };
}

/** A cluster in which so many machines are changed, and so many of them drained. */
export function rollingOut(target: string, grants: number, drains = grants): TargetPreview {
  const sets = [rolloutOf({ grants, drains })];
  return { target, by: 'live', units: [], rollouts: { state: 'Known', sets } };
}
