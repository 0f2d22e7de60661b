/**
 * Promotion: for each cluster the commit that it has to run, for each Release how far it is, and why.
 *
 * Pure, without memory of its own: everything it knows is recorded in Release and Cluster status. A stage moves to the newest
 * commit that is proven in the stage before it (S31); proof belongs to the content that a commit renders to (S32).
 */

import type { Pipeline, PipelineStatus, Release } from '../../api/generated/types.ts';
import { firstPauseEnd, pausedReason } from '../../api/status/pauses.ts';
import { byCode } from '../../kube/objects/digest.ts';
import { optional } from '../../kube/objects/optional.ts';
import { firstMoment } from '../../os/dates.ts';
import { isHeadAccepted } from '../accepted-heads.ts';
import type { HeadReport } from '../commits.ts';
import { type ClusterPlan, planClusters, planWithoutCommit } from './cluster/plan.ts';
import { managedClusters } from './cluster/registration.ts';
import { createStageMember, type MemberContext, type StageMember } from './cluster/stage-member.ts';
import { type CommitHistory, createCommitHistory } from './commit-history.ts';
import type { JudgingPipeline } from './gates/in-force.ts';
import { planGates } from './gates/plan.ts';
import { withHistory } from './history/plan.ts';
import { pipelineStatus } from './pipeline-status.ts';
import { type OrderedRelease, orderReleases } from './release/order.ts';
import { expiredReleases, missingRelease, planReleases, type ReleaseUpdate } from './release/plan.ts';
import type { ClusterNamesByStage } from './release/release.ts';
import type { ClusterSnapshot, PromotionInput } from './snapshot.ts';
import { membershipIn, type StageMembership } from './stage/membership.ts';
import { nextRequeue } from './stage/rollout.ts';
import { planStage, type StagePlan } from './stage/stage.ts';

export interface PromotionPlan {
  /** The Release to create first; its status is in `releases`. */
  readonly create?: Release;
  /** Every Release that is not finished or that a stage is on, in the order of their commits. */
  readonly releases: readonly ReleaseUpdate[];
  readonly stages: readonly StagePlan[];
  /** The plans of all clusters, sorted by name. */
  readonly clusters: readonly ClusterPlan[];
  readonly status: PipelineStatus;
  /** Finished Releases beyond `historyLimit`, to be deleted. */
  readonly expired: readonly Release[];
  /** Checks that should run now. */
  readonly dueChecks: readonly DueCheck[];
  readonly requeueAt?: Date;
}

export interface DueCheck {
  readonly cluster: string;
  readonly stage: string;
  readonly check: string;
}

export function planPromotion(observed: PromotionInput, head: HeadReport): PromotionPlan {
  const objects = observed.clusters.map(({ cluster }) => cluster);
  const managed = managedClusters(observed.pipeline.metadata.name, objects);
  const history = createCommitHistory(observed.commits, managed);
  const { gates, stageLists, pipeline } = planGates(observed, history);
  const snapshot = { ...observed, pipeline };
  const { now } = snapshot;
  const assigned = assignStages(snapshot, stageLists);
  const context = memberContext(snapshot, history);
  const create = missingRelease(snapshot, history, clusterNames(pipeline, assigned));
  const ordered = orderReleases([...snapshot.releases, ...(create ? [create] : [])], history);
  const stages = planStages(snapshot, { context, assigned, ordered });
  // Without an accepted commit the order is unknown, so the recorded status stays.
  const releases = history.newest ? planReleases(ordered, stages, now) : [];
  const clusters = withHistory(planAllClusters(snapshot, { context, assigned, stages }), {
    pipeline,
    releases: ordered,
    commits: history,
    now,
  });
  return {
    ...optional('create', create),
    releases,
    stages,
    clusters,
    status: {
      ...pipelineStatus({ snapshot, head, stages, clusters, releases: ordered }),
      ...optional('gates', gates),
    },
    expired: expiredReleases(ordered, releases, { stages, limit: pipeline.spec.historyLimit }),
    dueChecks: stages.flatMap(({ stage, members }) =>
      members.flatMap((member) => dueChecks(stage.name, member)),
    ),
    ...optional(
      'requeueAt',
      firstMoment([...stages.flatMap((plan) => requeues(plan, now)), ...pauseEnds(snapshot)]),
    ),
  };
}

/** The end of a pause changes a target, whatever the stages do. */
function pauseEnds({ clusters, now }: PromotionInput): readonly (Date | undefined)[] {
  return clusters.map(({ cluster }) => firstPauseEnd(cluster, now));
}

/** A candidate may wait for a window to open, or for the end of a freeze. */
function requeues({ rollouts, waiting }: StagePlan, now: Date): readonly (Date | undefined)[] {
  const until = waiting?.wait.until;
  return [nextRequeue(rollouts, now), until && until > now ? until : undefined];
}

interface AssignedCluster {
  readonly snapshot: ClusterSnapshot;
  readonly membership: StageMembership;
}

function assignStages(
  { clusters }: PromotionInput,
  stageLists: JudgingPipeline['stageLists'],
): readonly AssignedCluster[] {
  return clusters
    .map((snapshot) => ({ snapshot, membership: membershipIn(snapshot.cluster, stageLists) }))
    .toSorted((a, b) => byCode(nameOf(a), nameOf(b)));
}

function nameOf({ snapshot }: AssignedCluster): string {
  return snapshot.cluster.metadata.name;
}

/** A cluster that two stages select counts in both, so that neither can be proven until that is corrected. */
function isInStage({ membership }: AssignedCluster, stage: string): boolean {
  return membership.kind === 'Contested'
    ? membership.stages.includes(stage)
    : membership.kind === 'Member' && membership.stage === stage;
}

function clusterNames({ spec }: Pipeline, assigned: readonly AssignedCluster[]): ClusterNamesByStage {
  return spec.stages.map((stage) => assigned.filter((each) => isInStage(each, stage.name)).map(nameOf));
}

interface PlanInput {
  readonly context: MemberContext;
  readonly assigned: readonly AssignedCluster[];
  readonly ordered: readonly OrderedRelease[];
}

/** Stage by stage: a commit that one stage proves in this reconcile is the candidate of the next. */
function planStages(
  { pipeline }: PromotionInput,
  { context, assigned, ordered }: PlanInput,
): readonly StagePlan[] {
  const unassigned = assigned.filter(({ membership }) => membership.kind === 'Unassigned').map(nameOf);
  const plans: StagePlan[] = [];
  let candidate = ordered.find(({ commit }) => commit === context.history.newest?.id);
  for (const stage of pipeline.spec.stages) {
    const own = assigned.filter((each) => isInStage(each, stage.name));
    const members = own.map(({ snapshot, membership }) =>
      createStageMember(snapshot, stage, { ...context, membership }),
    );
    const plan = planStage({
      pipeline,
      stage,
      members,
      releases: ordered,
      candidate,
      earlier: plans.flatMap((before) => before.members.map(({ name }) => name)),
      unassigned,
      hadClusters: hadClusters(pipeline.status, stage.name),
      context,
    });
    plans.push(plan);
    candidate = plan.nextCandidate;
  }
  return plans;
}

function memberContext(
  { pipeline, unaccepted = new Map(), holds = [], now }: PromotionInput,
  history: CommitHistory,
): MemberContext {
  const { acknowledgements } = pipeline.spec;
  const acknowledged = new Set(acknowledgements.map(({ planDigest }) => planDigest));
  const membership = { kind: 'Unassigned' } as const;
  return {
    membership,
    history,
    isHeadAccepted: isHeadAccepted(pipeline, history.newest?.id),
    unaccepted,
    now,
    acknowledged,
    holds,
  };
}

function hadClusters(status: PipelineStatus | undefined, stage: string): boolean {
  const before = status?.stages?.find(({ name }) => name === stage);
  return before?.release !== undefined || (before?.clusters?.total ?? 0) > 0;
}

function planAllClusters(
  { pipeline }: PromotionInput,
  { context, assigned, stages }: Omit<PlanInput, 'ordered'> & { readonly stages: readonly StagePlan[] },
): readonly ClusterPlan[] {
  const planContext = {
    pipeline: pipeline.metadata.name,
    paused: pausedReason(pipeline) !== undefined,
    context,
  };
  const [anyStage] = pipeline.spec.stages;
  const planned = stages.flatMap((plan) => planClusters(plan, planContext));
  const names = new Set(planned.map(({ name }) => name));
  const others = assigned.filter((each) => !names.has(nameOf(each)));
  const rest = others.flatMap(({ snapshot, membership }) => {
    if (!anyStage) return [];
    // Outside of a stage nothing depends on the grace, so any stage's will do.
    const member = createStageMember(snapshot, anyStage, { ...context, membership });
    return planWithoutCommit(member, undefined, planContext);
  });
  return [...planned, ...rest].toSorted((a, b) => byCode(a.name, b.name));
}

function dueChecks(stage: string, { name, progress, block }: StageMember): readonly DueCheck[] {
  return block ? [] : progress.dueChecks.map((check) => ({ cluster: name, stage, check }));
}
