/** Reads the complete input of one reconcile of a Pipeline. Rejects if any part of it cannot be read. */
import type { Cluster, Pipeline, Release } from '../../api/generated/types.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Clock } from '../../os/clock.ts';
import type { CheckScheduler } from '../../rollout/checks/scheduler.ts';
import type { HeadReport } from '../commits.ts';
import {
  managedClusters,
  type RegisteredCluster,
  removedClusters,
  sharedClusters,
} from './cluster/registration.ts';
import type { ClusterWorkersPort, CommitSource, HubStore } from './ports.ts';
import type { ClusterSnapshot, PromotionInput } from './snapshot.ts';
import { type ClusterClaim, claimClusters } from './stage/membership.ts';

export interface PromotionSources {
  readonly hub: HubStore;
  readonly clusters: ClusterWorkersPort;
  readonly clock: Clock;
}

/** The input of one reconcile of a Pipeline that its worker provides: the accepted commits and the checks. */
export interface PromotedPipeline {
  readonly commits: CommitSource;
  readonly checks: CheckScheduler;
}

export interface PromotionObservation {
  readonly snapshot: PromotionInput;
  readonly head: HeadReport;
  /** The clusters whose status this Pipeline writes. */
  readonly owned: ReadonlySet<string>;
}

export async function observePromotion(
  { hub, clusters, clock }: PromotionSources,
  pipeline: Pipeline,
  { commits: source, checks }: PromotedPipeline,
): Promise<PromotionObservation> {
  const { name } = pipeline.metadata;
  const [objects, pipelines, releases] = await Promise.all([
    hub.clusters(),
    hub.pipelines(),
    hub.releasesOf(name),
  ]);
  // A Cluster that is being deleted belongs to no stage.
  const present = objects.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const claims = claimClusters(present, pipelines).filter(
    ({ selectedBy, owner }) => selectedBy.includes(name) || owner === name,
  );
  const snapshots = claims.map((claim): ClusterSnapshot => {
    const { cluster } = claim;
    const report = clusters.report(cluster.metadata.name);
    const otherPipeline = otherPipelineOf(claim, name);
    const checkRuns = checks.results(cluster.metadata.name);
    return {
      cluster,
      checkRuns,
      ...optional('report', report),
      ...optional('otherPipeline', otherPipeline),
      isNotHeld: claim.holder !== name,
    };
  });
  const { commits, head, unaccepted } = await source.accepted(mentionedCommits(snapshots, releases));
  const removed = removedClusters(managedClusters(name, objects), commits.at(-1));
  const shared = sharedClusters(objects.map(withReport), removed);
  const own = claims.filter(({ owner }) => owner === name);
  return {
    snapshot: {
      pipeline,
      clusters: snapshots.map(withRegistration),
      releases,
      commits,
      ...optional('unaccepted', unaccepted),
      holds: hub.holds?.() ?? [],
      now: clock.now(),
    },
    head,
    owned: new Set(own.map(({ cluster }) => cluster.metadata.name)),
  };

  function withReport(cluster: Cluster): RegisteredCluster {
    return { cluster, ...optional('report', clusters.report(cluster.metadata.name)) };
  }

  function withRegistration(snapshot: ClusterSnapshot): ClusterSnapshot {
    const { name: cluster } = snapshot.cluster.metadata;
    return {
      ...snapshot,
      isRemoved: removed.has(cluster),
      ...optional('shared', shared.get(cluster)),
    };
  }
}

function otherPipelineOf(
  { holder, selectedBy }: ClusterClaim,
  pipeline: string,
): ClusterSnapshot['otherPipeline'] {
  if (holder === pipeline) return undefined;
  const other = holder ?? selectedBy.find((each) => each !== pipeline);
  return other === undefined ? undefined : { name: other, holds: holder !== undefined };
}

/** Returns the commits whose order in the history the planner needs. */
function mentionedCommits(
  clusters: readonly ClusterSnapshot[],
  releases: readonly Release[],
): readonly string[] {
  const all = [...clusters.flatMap(clusterCommits), ...releases.map(({ spec }) => spec.commit)];
  return [...new Set(all.filter((commit) => commit !== undefined))];
}

function clusterCommits({ cluster, report }: ClusterSnapshot): readonly (string | undefined)[] {
  const { commit, proven = [], failed = [] } = cluster.status?.sync ?? {};
  return [commit, ...(report?.commits ?? []), ...[...proven, ...failed].map((entry) => entry.commit)];
}
