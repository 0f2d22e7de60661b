/**
 * One stage: which commit it is on, and which of its clusters start. Pure.
 *
 * A stage moves to the newest commit that is proven in the stage before it. While it is busy a newer commit waits, unless the
 * current one is replaceable or the newer one is a revert (S34).
 */
import type { Pipeline, Stage } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import type { Limit } from '../../../rollout/limit.ts';
import { type ClusterRollout, clusterRollout, skipsSoak } from '../cluster/rollout.ts';
import { ROLLOUT_STATES } from '../cluster/rollout-state.ts';
import type { MemberContext, StageMember } from '../cluster/stage-member.ts';
import { approverProblem } from '../gates/approvers.ts';
import { entryLimit, isClosed } from '../limits.ts';
import { isNewer, newerOf, type OrderedRelease, stageCurrent } from '../release/order.ts';
import { currentPlanDigest, rendersAsPromoted } from '../release/release.ts';
import type { PromotionHold } from '../snapshot.ts';
import { isReplaceable, isRevert, type StageRollout, stageRollout } from './rollout.ts';
import { afterStart, chooseStarts, withLostSlots } from './starts.ts';
import { unexercisedClusters } from './unexercised.ts';

export interface StageInput {
  readonly pipeline: Pipeline;
  readonly stage: Stage;
  /** The clusters of the stage, sorted by name. */
  readonly members: readonly StageMember[];
  readonly releases: readonly OrderedRelease[];
  /** The newest commit that is proven in the stage before; for the first stage, the newest accepted commit. */
  readonly candidate: OrderedRelease | undefined;
  /** Names of the clusters of the earlier stages. */
  readonly earlier: readonly string[];
  readonly unassigned: readonly string[];
  /** Whether the stage had clusters once: without any, it holds and passes nothing on (S38). */
  readonly hadClusters: boolean;
  readonly context: MemberContext;
}

export interface StagePlan {
  readonly stage: Stage;
  readonly members: readonly StageMember[];
  /** The commit that the stage is on. Undefined before its first commit. */
  readonly current: OrderedRelease | undefined;
  readonly rollouts: readonly ClusterRollout[];
  readonly rollout: StageRollout | undefined;
  /** Clusters that start, or continue after they were away, and why. */
  readonly starts: ReadonlyMap<string, string>;
  /** The commit that was replaced in this reconcile. */
  readonly replaced?: ReleaseInStage;
  /** The newest commit that is proven here, as of this reconcile. */
  readonly proven: OrderedRelease | undefined;
  /** The candidate of the next stage: `proven`, unless it renders to other content now that is not proven here. */
  readonly nextCandidate: OrderedRelease | undefined;
  /** The candidate that cannot enter yet, and why. */
  readonly waiting?: { readonly release: OrderedRelease; readonly wait: Explanation };
  readonly limit: Limit | undefined;
}

export interface ReleaseInStage {
  readonly release: OrderedRelease;
  readonly rollouts: readonly ClusterRollout[];
  readonly rollout: StageRollout;
}

export function planStage(input: StageInput): StagePlan {
  const { releases, stage, candidate } = input;
  const { release, busy, proven } = stageCurrent(releases, stage.name);
  const current = release && currentRollout(release, busy, input);
  if (!candidate || !isNewer(candidate, release, releases)) return planStarts(input, current, proven);

  const next = rolloutOf(candidate, input);
  const wait = entryWait(input, current, next);
  if (wait) return { ...planStarts(input, current, proven), waiting: { release: candidate, wait } };
  const provenHere = current?.rollout.state === 'Proven' ? current.release : proven;
  return { ...planStarts(input, next, provenHere), ...optional('replaced', current) };
}

/** A proven commit stays proven: only a commit that the stage is busy with is judged again. */
function currentRollout(release: OrderedRelease, busy: boolean, input: StageInput): ReleaseInStage {
  const found = rolloutOf(release, input);
  return busy ? found : { ...found, rollout: { state: 'Proven' } };
}

function rolloutOf(release: OrderedRelease, { members, stage, context }: StageInput): ReleaseInStage {
  const rollouts = members.map((member) => clusterRollout(member, release.commit, context));
  return { release, rollouts, rollout: stageRollout(rollouts, stage) };
}

/** Undefined: the stage takes the candidate now. */
function entryWait(
  input: StageInput,
  current: ReleaseInStage | undefined,
  next: ReleaseInStage,
): Explanation | undefined {
  const { stage, pipeline, members, hadClusters, unassigned, earlier, context } = input;
  if (members.length === 0 && hadClusters) {
    return {
      reason: 'NoClusters',
      because: `stage ${stage.name} has no cluster left to prove a commit on: add one, or remove the stage`,
      blocker: { kind: 'Pipeline', name: pipeline.metadata.name },
    };
  }
  if (current && !canReplace(current, next, input)) {
    const { name } = current.release;
    return {
      reason: 'StageBusy',
      because: `stage ${stage.name} is busy with ${name}`,
      blocker: { kind: 'Release', name },
    };
  }
  const changing = next.rollouts.filter(({ hasContent }) => !hasContent);
  const changed = changing.map(({ member }) => member.name);
  const range = { from: current?.release.commit, to: next.release.commit };
  const unexercised = unexercisedClusters(context.history, range, changed, earlier).length;
  const planDigest = currentPlanDigest(next.release.release, context.history);
  const limit = entryLimit({
    pipeline,
    stage,
    planDigest,
    ...optional('approverProblem', approvalProblem(input, current, next, planDigest)),
    unassigned,
    changes: changed.length,
    unexercised,
    isRevert: changing.every((rollout) => skipsSoak(rollout, next.release.commit, context)),
    ...optional('hold', holdOf(next.release.commit, context)),
    now: context.now,
  });
  return limit.slots > 0 ? undefined : limit;
}

function approvalProblem(
  { stage, releases }: StageInput,
  current: ReleaseInStage | undefined,
  { release: to }: ReleaseInStage,
  planDigest: string,
): string | undefined {
  if (!stage.approvalByOther) return undefined;
  return approverProblem({ stage: stage.name, planDigest, from: current?.release, to, releases });
}

function canReplace(current: ReleaseInStage, next: ReleaseInStage, input: StageInput): boolean {
  const { stage, context } = input;
  return (
    current.rollout.state === 'Proven' ||
    isRerendered(current.release, input) ||
    isReplaceable(current.rollouts, stage) ||
    isInterrupted(current, input) ||
    isRevert(next.rollouts, next.release.commit, context)
  );
}

/** The stage was closed in the middle of the commit, and no cluster is under way: a revert that may pass would wait for hours. */
function isInterrupted({ rollouts }: ReleaseInStage, { pipeline, stage, context }: StageInput): boolean {
  const isUnderWay = rollouts.some(
    ({ state }) => state !== 'NotStarted' && ROLLOUT_STATES[state].isInProgress,
  );
  return !isUnderWay && isClosed({ pipeline, stage, now: context.now });
}

const IDLE = {
  current: undefined,
  rollouts: [],
  rollout: undefined,
  starts: new Map<string, string>(),
  limit: undefined,
};

/** The stage stays on this commit, or has just moved to it: which clusters start? */
function planStarts(
  input: StageInput,
  current: ReleaseInStage | undefined,
  proven: OrderedRelease | undefined,
): StagePlan {
  const { stage, members, hadClusters, releases } = input;
  if (!current) return { ...IDLE, stage, members, proven, nextCandidate: ifAsPromoted(proven, input) };
  const { release } = current;
  const request = startRequest(input, release);
  const found = withLostSlots(current.rollouts, request);
  const { starts, limit, limitFor } = chooseStarts(found, request);
  const rollouts = found.map((rollout) => afterStart(rollout, starts, limitFor(rollout)));
  // A stage that never had a cluster is passed.
  const isEmpty = members.length === 0 && !hadClusters;
  const now: StageRollout = isEmpty ? { state: 'Proven' } : stageRollout(rollouts, stage);
  const rollout: StageRollout = current.rollout.state === 'Proven' ? { state: 'Proven' } : now;
  const newest = rollout.state === 'Proven' ? newerOf(proven, release, releases) : proven;
  const isProvenNow = now.state === 'Proven' && newest === release;
  const nextCandidate = isProvenNow ? newest : ifAsPromoted(newest, input);
  return {
    stage,
    members,
    current: release,
    rollouts,
    rollout,
    starts,
    proven: newest,
    nextCandidate,
    limit,
  };
}

function startRequest(input: StageInput, release: OrderedRelease): Parameters<typeof chooseStarts>[1] {
  const { pipeline, stage, unassigned, context } = input;
  const rerendered = isRerendered(release, input) ? release.commit : undefined;
  return {
    pipeline,
    stage,
    unassigned,
    commit: release.commit,
    context,
    ...optional('rerendered', rerendered),
    ...optional('hold', holdOf(release.commit, context)),
  };
}

function holdOf(commit: string, { holds = [] }: MemberContext): PromotionHold | undefined {
  return holds.find(({ commits }) => commits === undefined || commits.has(commit));
}

/** Returns the Release. Undefined if its commit renders to other content now than when it was promoted. */
function ifAsPromoted(
  proven: OrderedRelease | undefined,
  { context }: StageInput,
): OrderedRelease | undefined {
  return proven && rendersAsPromoted(proven.release, context.history) ? proven : undefined;
}

/** The first stage proves what a commit renders to now; the others need the proof of the stage before. */
function isRerendered(release: OrderedRelease, input: StageInput): boolean {
  return release !== input.candidate && ifAsPromoted(release, input) === undefined;
}
