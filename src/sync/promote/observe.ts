/** Gathers what one pass over one Pipeline decides upon. It rejects rather than decide upon a part. */
import type { Pipeline, Release } from '../../api/generated/types.ts';
import type { Clock } from '../../os/clock.ts';
import type { CheckDesk } from '../../rollout/check-scheduler.ts';
import type { HeadReport } from '../commits.ts';
import type { ClusterWorkersPort, CommitSource, HubStore } from './ports.ts';
import { type ClusterView, optional, type World } from './snapshot.ts';
import { claimsOn } from './stage/claims.ts';

export interface Sources {
  readonly hub: HubStore;
  readonly source: CommitSource;
  readonly clusters: ClusterWorkersPort;
  readonly clock: Clock;
}

export interface Observation {
  readonly world: World;
  readonly head: HeadReport;
  /** Clusters whose status this Pipeline writes. */
  readonly owned: ReadonlySet<string>;
}

export async function observe(sources: Sources, pipeline: Pipeline, desk: CheckDesk): Promise<Observation> {
  const { hub, source, clusters, clock } = sources;
  const { name } = pipeline.metadata;
  const [objects, pipelines, releases] = await Promise.all([
    hub.clusters(),
    hub.pipelines(),
    hub.releasesOf(name),
  ]);
  // A Cluster that is being deleted belongs to no stage any more.
  const present = objects.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const claims = claimsOn(present, pipelines).filter(({ by, owner }) => by.includes(name) || owner === name);
  const views = claims.map(({ cluster, by }): ClusterView => {
    const report = clusters.report(cluster.metadata.name);
    const rival = by.find((other) => other !== name);
    const runs = desk.runsOf(cluster.metadata.name);
    return { cluster, runs, ...optional('report', report), ...optional('rival', rival) };
  });
  const { commits, head } = await source.accepted(pipeline, mentioned(views, releases));
  const own = claims.filter(({ owner }) => owner === name);
  return {
    world: { pipeline, clusters: views, releases, commits, now: clock.now() },
    head,
    owned: new Set(own.map(({ cluster }) => cluster.metadata.name)),
  };
}

/** Commits whose place in the history the planner asks about. */
function mentioned(views: readonly ClusterView[], releases: readonly Release[]): readonly string[] {
  const all = [...views.flatMap(commitsOf), ...releases.map(({ spec }) => spec.commit)];
  return [...new Set(all.filter((commit) => commit !== undefined))];
}

function commitsOf({ cluster, report }: ClusterView): readonly (string | undefined)[] {
  const { commit, proven = [], failed = [] } = cluster.status?.sync ?? {};
  return [commit, ...(report?.commits ?? []), ...[...proven, ...failed].map((entry) => entry.commit)];
}
