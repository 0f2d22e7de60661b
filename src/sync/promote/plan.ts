/**
 * Promotion: for each cluster the commit that it has to run, for each Release how far it has come, and why.
 *
 * Pure, and without memory of its own: what it knows is written down in Release and Cluster status. A stage moves to the
 * newest commit that is proven in the stage before it (S31); proof belongs to what a commit renders to (S32).
 */
import type { PipelineStatus, Release, ReleaseStatus } from '../../api/generated/types.ts';
import { byCode } from '../../kube/objects/digest.ts';
import type { HeadReport } from '../commits.ts';
import { type ClusterPlan, clusterPlans, unplaced } from './cluster/plan.ts';
import { type Member, type MemberContext, memberOf } from './cluster/stage-member.ts';
import { type History, historyOf } from './commit-history.ts';
import { pipelineStatus } from './pipeline-status.ts';
import { findingOf } from './release/findings.ts';
import { type Road, roadsOf } from './release/order.ts';
import { newRelease, releaseName } from './release/release.ts';
import { releaseStatus } from './release/status.ts';
import { type ClusterView, earliest, optional, type World } from './snapshot.ts';
import { type Membership, membershipOf } from './stage/membership.ts';
import { planStage, type StagePlan } from './stage/stage.ts';
import { nextWake } from './stage/verdict.ts';

export interface PromotionPlan {
  /** To be created first; its status is in `releases`. */
  readonly create?: Release;
  /** Whose status is new or different, in the order of their commits. */
  readonly releases: readonly ReleasePlan[];
  readonly stages: readonly StagePlan[];
  /** Every cluster, by name. */
  readonly clusters: readonly ClusterPlan[];
  readonly status: PipelineStatus;
  /** Finished Releases beyond the limit of the history. */
  readonly drop: readonly Release[];
  /** Checks that should run now. */
  readonly due: readonly DueCheck[];
  readonly wakeAt?: Date;
}

export interface DueCheck {
  readonly cluster: string;
  readonly stage: string;
  readonly check: string;
}

export interface ReleasePlan {
  readonly release: Release;
  readonly status: ReleaseStatus;
}

export function planPromotion(world: World, head: HeadReport): PromotionPlan {
  const { pipeline, now } = world;
  const history = historyOf(world.commits);
  const places = placesOf(world);
  const context = contextOf(world, history);
  const create = missingRelease(world, history, places);
  const roads = roadsOf([...world.releases, ...(create ? [create] : [])], history);
  const stages = planStages(world, { context, places, roads });
  // Without any accepted commit nothing is known about order: what is written down stays.
  const releases = history.newest ? releasePlans(roads, stages, now) : [];
  const clusters = allClusters(world, { context, places, stages });
  return {
    ...optional('create', create),
    releases,
    stages,
    clusters,
    status: pipelineStatus({ world, head, stages, clusters, roads }),
    drop: superfluous(roads, releases, { stages, limit: pipeline.spec.historyLimit }),
    due: stages.flatMap(({ stage, members }) => members.flatMap((member) => dueChecks(stage.name, member))),
    ...optional('wakeAt', earliest(stages.map(({ standings }) => nextWake(standings, now)))),
  };
}

interface Place {
  readonly view: ClusterView;
  readonly membership: Membership;
}

function placesOf({ pipeline, clusters }: World): readonly Place[] {
  return clusters
    .map((view) => ({ view, membership: membershipOf(view.cluster, pipeline.spec.stages) }))
    .toSorted((a, b) => byCode(a.view.cluster.metadata.name, b.view.cluster.metadata.name));
}

/** A cluster that two stages claim stands in both: neither is proven while that is so. */
function isIn({ membership }: Place, stage: string): boolean {
  return membership.kind === 'Contested'
    ? membership.stages.includes(stage)
    : membership.kind === 'Member' && membership.stage === stage;
}

/** The newest accepted commit gets a Release; those that came and went between two passes get none. */
function missingRelease(
  { pipeline, releases }: World,
  history: History,
  places: readonly Place[],
): Release | undefined {
  const { newest } = history;
  if (!newest?.targets) return undefined;
  const name = releaseName(pipeline.metadata.name, newest.id);
  if (releases.some(({ metadata }) => metadata.name === name)) return undefined;
  const stages = pipeline.spec.stages.map((stage) =>
    places.filter((place) => isIn(place, stage.name)).map(({ view }) => view.cluster.metadata.name),
  );
  return newRelease(pipeline, newest, stages, history);
}

interface Scene {
  readonly context: MemberContext;
  readonly places: readonly Place[];
  readonly roads: readonly Road[];
}

/** Stage by stage: what is proven in one in this very pass is the candidate of the next. */
function planStages(world: World, { context, places, roads }: Scene): readonly StagePlan[] {
  const { pipeline } = world;
  const unassigned = namesOf(places.filter(({ membership }) => membership.kind === 'Unassigned'));
  const plans: StagePlan[] = [];
  let candidate = roads.find(({ commit }) => commit === context.history.newest?.id);
  for (const stage of pipeline.spec.stages) {
    const own = places.filter((place) => isIn(place, stage.name));
    const members = own.map(({ view, membership }) => memberOf(view, stage, { ...context, membership }));
    const plan = planStage({
      pipeline,
      stage,
      members,
      roads,
      candidate,
      earlier: plans.flatMap((before) => before.members.map(({ name }) => name)),
      unassigned,
      hadClusters: hadClusters(pipeline.status, stage.name),
      context,
    });
    plans.push(plan);
    candidate = plan.passes;
  }
  return plans;
}

function contextOf({ pipeline, now }: World, history: History): MemberContext {
  const { source, acknowledgements } = pipeline.spec;
  const acknowledged = new Set(acknowledgements.map(({ planDigest }) => planDigest));
  const membership = { kind: 'Unassigned' } as const;
  return { membership, history, acceptHead: source.acceptHead, now, acknowledged };
}

function hadClusters(status: PipelineStatus | undefined, stage: string): boolean {
  const before = status?.stages?.find(({ name }) => name === stage);
  return before?.release !== undefined || (before?.clusters?.total ?? 0) > 0;
}

/** Those that ended are left as they are, unless a stage is on them still. */
function releasePlans(
  roads: readonly Road[],
  stages: readonly StagePlan[],
  now: Date,
): readonly ReleasePlan[] {
  return roads
    .filter((road) => road.release.status?.finishedAt === undefined || stages.some(({ on }) => on === road))
    .map((road) => {
      const { release } = road;
      return { release, status: releaseStatus(release, findingOf(road, stages, roads, now), now) };
    });
}

function allClusters(
  world: World,
  { context, places, stages }: Omit<Scene, 'roads'> & { readonly stages: readonly StagePlan[] },
): readonly ClusterPlan[] {
  const { pipeline } = world;
  const frame = {
    pipeline: pipeline.metadata.name,
    paused: pipeline.spec.paused,
    context,
  };
  const [anyStage] = pipeline.spec.stages;
  const placed = stages.flatMap((plan) => clusterPlans(plan, frame));
  const have = new Set(placed.map(({ name }) => name));
  const others = places.filter(({ view }) => !have.has(view.cluster.metadata.name));
  const rest = others.flatMap(({ view, membership }) => {
    // Without a stage only the grace of some stage tells "unreachable" from "lost"; nothing hangs on it.
    return anyStage ? unplaced(memberOf(view, anyStage, { ...context, membership }), undefined, frame) : [];
  });
  return [...placed, ...rest].toSorted((a, b) => byCode(a.name, b.name));
}

/** Kept: what is going on, the newest ended ones, and those that a stage is on or last proved. */
function superfluous(
  roads: readonly Road[],
  releases: readonly ReleasePlan[],
  { stages, limit }: { readonly stages: readonly StagePlan[]; readonly limit: number },
): readonly Release[] {
  const needed = new Set(stages.flatMap(({ on, proven }) => [on, proven]));
  const ended = roads.filter((road) => {
    const planned = releases.find(({ release }) => release === road.release);
    const status = planned?.status ?? road.release.status;
    return status?.finishedAt !== undefined && !needed.has(road);
  });
  return ended.slice(0, Math.max(0, ended.length - limit)).map(({ release }) => release);
}

function dueChecks(stage: string, { name, progress, block }: Member): readonly DueCheck[] {
  return block ? [] : progress.due.map((check) => ({ cluster: name, stage, check }));
}

function namesOf(places: readonly Place[]): readonly string[] {
  return places.map(({ view }) => view.cluster.metadata.name);
}
