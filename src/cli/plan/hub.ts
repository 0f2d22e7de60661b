/** Reads the hub that a plan is for: its clusters, its Pipelines, and what is in force there. */
import { CLUSTERS, FLEET_POLICIES, PIPELINES } from '../../api/generated/resources.ts';
import type { Cluster, FleetPolicy, Pipeline } from '../../api/generated/types.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import type { KubeObject, Resource } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import { readClusterUID } from '../../sync/cluster-uid.ts';
import type { PreviewLimits } from '../../sync/preview/preview.ts';
import { managedClusters, removedClusters } from '../../sync/promote/cluster/registration.ts';
import { judgingPipeline } from '../../sync/promote/gates/in-force.ts';
import { strictestBudget } from '../../sync/promote/gates/strictest.ts';
import { claimClusters } from '../../sync/promote/stage/membership.ts';
import { declaredClusters, type Rendered } from '../../sync/rendered.ts';
import type { ClusterConnection } from './rollouts/read.ts';

export interface PlanHub extends ClusterConnection {
  readonly uid: string;
  readonly clusters: readonly Cluster[];
  readonly pipelines: readonly Pipeline[];
  /** The limits over clusters. Empty also for a user who may not read them. */
  readonly fleetPolicies: readonly FleetPolicy[];
}

export async function readPlanHub(connection: ClusterConnection, signal: AbortSignal): Promise<PlanHub> {
  const { client } = connection;
  const { items: clusters } = await client.list<Cluster>(CLUSTERS, { signal });
  const pipelines = await listPermitted<Pipeline>(client, PIPELINES, signal);
  const fleetPolicies = await listPermitted<FleetPolicy>(client, FLEET_POLICIES, signal);
  return { ...connection, uid: await readClusterUID(client, signal), clusters, pipelines, fleetPolicies };
}

/**
 * Lists objects. Empty for a user who may read Clusters only, and in a hub without that kind: the repository usually declares its Pipeline
 * and its limits.
 */
async function listPermitted<T extends KubeObject>(
  client: Client,
  resource: Resource,
  signal: AbortSignal,
): Promise<readonly T[]> {
  try {
    return (await client.list<T>(resource, { signal })).items;
  } catch (error) {
    if (isKubeError(error, 'Forbidden', 'NotFound')) return [];
    throw error;
  }
}

/** Lists the clusters in the hub that are not in the commit any more. */
export function abandonedClusters(
  { clusters }: PlanHub,
  to: Rendered,
  pipeline: string | undefined,
): ReadonlySet<string> {
  if (pipeline === undefined) return new Set();
  const declared = declaredClusters(to);
  return removedClusters(managedClusters(pipeline, clusters), {
    id: to.commit,
    ...optional('clusters', declared),
  });
}

/**
 * Returns the limits that apply: the stricter of those in force in the hub and those of the last commit, because an earlier commit may
 * still be rolling out.
 */
export function limitsInForce(
  { pipelines }: PlanHub,
  pipeline: string | undefined,
  limits: PreviewLimits,
): PreviewLimits {
  const found = pipelines.find(({ metadata }) => metadata.name === pipeline);
  if (!found) return limits;
  const { deleteBudget, forceManagers } = judgingPipeline(found).pipeline.spec;
  return {
    ...limits,
    budget: strictestBudget(deleteBudget, limits.budget),
    forceManagers: (limits.forceManagers ?? []).filter((name) => forceManagers.includes(name)),
  };
}

export function onlyPipeline({ pipelines }: PlanHub): string | undefined {
  return pipelines.length === 1 ? pipelines[0]?.metadata.name : undefined;
}

/** Returns the names of the clusters that the Pipeline promotes to. */
export function ownClusters({ clusters, pipelines }: PlanHub, pipeline: string | undefined): string[] {
  return claimClusters(clusters, pipelines)
    .filter(({ selectedBy }) => pipeline !== undefined && selectedBy.includes(pipeline))
    .map(({ cluster }) => cluster.metadata.name);
}
