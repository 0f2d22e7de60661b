/** Plans the next revert of a Pipeline: which failed commit is answered, and whether it is pushed or proposed. Pure. */
import type { FailedCluster, Pipeline, PipelineRevert, Release } from '../../api/generated/types.ts';
import { pausedReason } from '../../api/status/pauses.ts';
import { optional } from '../../kube/objects/optional.ts';

/** A commit that has spent the failure budget of a stage. */
export interface StageFailure {
  readonly stage: string;
  readonly release: string;
  readonly commit: string;
  readonly subject: string;
  /** The newest commit that is proven in the stage. Absent: none is. */
  readonly proven: string | undefined;
  readonly clusters: readonly FailedCluster[];
}

export interface RevertInput {
  readonly pipeline: Pipeline;
  readonly releases: readonly Release[];
  /** The newest accepted commit. Undefined while it is not known. */
  readonly head: string | undefined;
  /** The commits of which no revert can be made on that head. */
  readonly refused: ReadonlySet<string>;
}

export type RevertPlan =
  | { readonly type: 'None' }
  /** Nothing is pushed until a person ends the pause. */
  | { readonly type: 'Wait'; readonly because: string }
  | { readonly type: 'Make'; readonly failure: StageFailure; readonly onto: string }
  | { readonly type: 'Continue'; readonly failure: StageFailure; readonly record: PipelineRevert };

export function planRevert({ pipeline, releases, head, refused }: RevertInput): RevertPlan {
  const records = new Map((pipeline.status?.reverts ?? []).map((each) => [each.commit, each]));
  const failure = stageFailures(pipeline, releases).find(({ commit }) => {
    const record = records.get(commit);
    return !refused.has(commit) && !(record && isRevertMade(record));
  });
  if (!failure) return { type: 'None' };
  const paused = pausedReason(pipeline);
  if (paused !== undefined) return { type: 'Wait', because: paused };
  const record = records.get(failure.commit);
  if (record) return { type: 'Continue', failure, record };
  return head === undefined ? { type: 'None' } : { type: 'Make', failure, onto: head };
}

/** Tells whether sync is done with it: a revert that a person closed, or took back, is not made again. */
export function isRevertMade({ state }: PipelineRevert): boolean {
  return state !== 'Planned';
}

/** Returns the failed commits, in the order of the stages. A commit that a newer one replaced in its stage has no part in it. */
export function stageFailures(
  { spec, status }: Pipeline,
  releases: readonly Release[],
): readonly StageFailure[] {
  const found = spec.stages.flatMap(({ name }) => {
    const proven = status?.stages?.find((each) => each.name === name)?.commit;
    const failed = releases.filter((release) => hasFailed(release, name));
    return failed.map((release) => failureOf(name, release, proven));
  });
  // A commit that failed in two stages is reverted once.
  return found.filter(({ commit }, index) => found.findIndex((each) => each.commit === commit) === index);
}

function failureOf(
  stage: string,
  { metadata, spec, status }: Release,
  proven: string | undefined,
): StageFailure {
  const { commit, subject = '' } = spec;
  const clusters = (status?.failedClusters ?? []).filter((each) => each.stage === stage);
  return { stage, release: metadata.name, commit, subject, proven, clusters };
}

function hasFailed({ status }: Release, name: string): boolean {
  const isReplaced = status?.supersededBy !== undefined;
  return !isReplaced && status?.stages?.find((each) => each.name === name)?.state === 'Failed';
}

/** Describes the refs of the repository, and the pull request of the branch. */
export interface ObservedRevert {
  /** The commit of the tracked ref. */
  readonly tracked: string | undefined;
  /** Whether the history of the tracked ref has the revert. Read only if it has moved. */
  readonly isMerged: boolean;
  /** The commit of the branch. */
  readonly branch: string | undefined;
  readonly pull: PullRequestPage | undefined;
}

export interface PullRequestPage {
  readonly number: number;
  readonly url?: string;
}

export type RevertStep =
  | { readonly type: 'PushTracked' }
  | { readonly type: 'PushBranch' }
  | { readonly type: 'CreatePull' }
  | { readonly type: 'Pushed' }
  | { readonly type: 'Proposed'; readonly pull: PullRequestPage }
  /** The ref has moved: the revert is proposed in place of a push. */
  | { readonly type: 'ProposeInstead'; readonly because: string }
  | { readonly type: 'BranchTaken'; readonly because: string };

/** Decides what is left to do. A process that was killed may have done any of it. */
export function nextRevertStep(record: PipelineRevert, observed: ObservedRevert): RevertStep {
  return record.how === 'Push' ? nextPush(record, observed) : nextProposal(record, observed);
}

function nextPush({ onto, revert }: PipelineRevert, { tracked, isMerged }: ObservedRevert): RevertStep {
  if (tracked === revert || isMerged) return { type: 'Pushed' };
  if (tracked === onto) return { type: 'PushTracked' };
  const now = tracked === undefined ? 'the ref was deleted' : `the ref has moved to ${tracked}`;
  return { type: 'ProposeInstead', because: `not pushed to the ref: ${now}` };
}

function nextProposal(
  { branch: name, revert }: PipelineRevert,
  { isMerged, branch, pull }: ObservedRevert,
): RevertStep {
  if (pull) return { type: 'Proposed', pull };
  if (isMerged) return { type: 'Pushed' };
  if (branch === revert) return { type: 'CreatePull' };
  if (branch === undefined) return { type: 'PushBranch' };
  const because = `branch ${name} has the commit ${branch}, which sync has not made: delete the branch, or create a pull request from it`;
  return { type: 'BranchTaken', because };
}

/** Returns the record of a step that needs nothing but the record. */
export function recordAfter(record: PipelineRevert, step: RevertStep): PipelineRevert | undefined {
  if (step.type === 'Pushed') return { ...record, state: 'Pushed' };
  if (step.type === 'Proposed') return withPull(record, step.pull);
  return step.type === 'ProposeInstead' ? { ...record, how: 'Propose', note: step.because } : undefined;
}

export function withPull(record: PipelineRevert, { number, url }: PullRequestPage): PipelineRevert {
  return { ...record, state: 'Proposed', pullRequest: number, ...optional('url', url) };
}
