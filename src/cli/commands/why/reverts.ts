/** Explains what became of a commit that failed in a stage: whether sync reverts it, how far that is, and what a person has to do. Pure. */
import type { Pipeline, PipelineRevert, Release } from '../../../api/generated/types.ts';
import { conditionOf } from '../../../kube/objects/conditions.ts';
import { type StageFailure, stageFailures } from '../../../sync/revert/plan.ts';
import { revertReason } from '../../../sync/revert/report.ts';
import { shortCommit } from '../../../views/text/age.ts';
import { listNames } from '../../../views/text/list-names.ts';
import { formatField } from '../../../views/text/wrap.ts';

export interface RevertExplanation {
  readonly reason: string;
  readonly because: string;
  /** Tells a person what to do. Empty: nothing. */
  readonly unblock: string;
  /** The revert, as the Pipeline has recorded it. */
  readonly revert?: PipelineRevert;
}

export interface RevertedCommit {
  readonly commit: string;
  readonly pipelines: readonly Pipeline[];
  readonly releases: readonly Release[];
}

/** Explains the reverts that the commit has a part in: as the one that failed, or as the one that takes another back. */
export function explainReverts({
  commit,
  pipelines,
  releases,
}: RevertedCommit): readonly RevertExplanation[] {
  return pipelines.flatMap((pipeline) => {
    const own = releases.filter(({ spec }) => spec.pipeline === pipeline.metadata.name);
    const { reverts = [] } = pipeline.status ?? {};
    const made = reverts.find(({ revert }) => revert === commit);
    const answer = reverts.find((each) => each.commit === commit);
    const failure = stageFailures(pipeline, own).find((each) => each.commit === commit);
    return [
      ...(made ? [explainRevert(made)] : []),
      ...(answer ? [explainAnswer(answer, pipeline, own)] : []),
      ...(failure && !answer ? [explainUnanswered(failure, pipeline)] : []),
    ];
  });
}

function explainRevert(revert: PipelineRevert): RevertExplanation {
  const { stage, proven } = revert;
  const because = `sync made this commit: ${failureText(revert)}; it goes back to ${shortCommit(proven)}, which stage ${stage} had proven`;
  return { reason: 'MadeBySync', because, unblock: '', revert };
}

function explainAnswer(
  revert: PipelineRevert,
  pipeline: Pipeline,
  releases: readonly Release[],
): RevertExplanation {
  const { note, proven, state } = revert;
  const notes = note === undefined ? '' : `. Note: ${note}`;
  const because = `${failureText(revert)}: ${STATES[state](revert)}, which goes back to ${shortCommit(proven)}${notes}`;
  return {
    reason: revertReason(revert),
    because,
    unblock: unblockRevert(revert, pipeline, releases),
    revert,
  };
}

const STATES: Readonly<Record<PipelineRevert['state'], (revert: PipelineRevert) => string>> = {
  Planned: ({ revert, branch, how }) =>
    `sync pushes its revert ${shortCommit(revert)} to ${how === 'Push' ? 'the tracked ref' : `branch ${branch}`}`,
  Proposed: (record) => `sync proposes its revert ${shortCommit(record.revert)} as ${pullName(record)}`,
  Pushed: ({ revert }) => `sync has pushed its revert ${shortCommit(revert)}`,
};

function pullName({ pullRequest, url, branch }: PipelineRevert): string {
  const name = `pull request ${pullRequest ?? `of branch ${branch}`}`;
  return url === undefined ? name : `${name} (${url})`;
}

const GOES_ON = 'no action required while kubenode sync runs';

function unblockRevert(revert: PipelineRevert, pipeline: Pipeline, releases: readonly Release[]): string {
  const failed = releases.find(({ spec }) => spec.commit === revert.commit);
  if (!failed) return 'no action required: newer commits have followed, and the hub keeps no Release of it';
  const newer = failed.status?.supersededBy;
  return newer === undefined
    ? UNBLOCKS[revert.state](revert, pipeline)
    : `no action required: Release ${newer} has replaced it`;
}

type Unblock = (revert: PipelineRevert, pipeline: Pipeline) => string;

const UNBLOCKS: Readonly<Record<PipelineRevert['state'], Unblock>> = {
  Planned: (_, { status }) => {
    const ready = conditionOf(status?.conditions, 'RevertReady');
    return ready === undefined || ready.status === 'True' ? GOES_ON : ready.message;
  },
  Proposed: ({ stage }) => `merge it, or push a commit that fixes stage ${stage}`,
  Pushed: () => 'no action required: kubenode release list shows the revert',
};

/** Explains why a commit that failed has no revert. A commit that a newer one replaced needs none. */
function explainUnanswered(failure: StageFailure, pipeline: Pipeline): RevertExplanation {
  const { commit, stage, proven, clusters } = failure;
  const what = failureText({ stage, failedClusters: clusters });
  if (pipeline.spec.onFailure === 'Stop') {
    const back = proven === undefined ? '' : `, or revert it: git revert --no-commit ${proven}..${commit}`;
    const because = `${what}: sync reverts nothing, because onFailure of Pipeline ${pipeline.metadata.name} is Stop`;
    return { reason: 'Stop', because, unblock: `push a commit that fixes stage ${stage}${back}` };
  }
  const ready = conditionOf(pipeline.status?.conditions, 'RevertReady');
  if (!ready || ABOUT_OTHERS.has(ready.reason)) {
    return { reason: 'NotAnsweredYet', because: `${what}: sync has not answered it yet`, unblock: GOES_ON };
  }
  const isDone = ready.status === 'True';
  return {
    reason: ready.reason,
    because: `${what}: ${isDone ? 'no revert is needed' : 'no revert was made'}: ${ready.message}`,
    unblock: isDone ? '' : 'do what the message asks for',
  };
}

/** The condition has one of these for a commit that is answered, or while there is none. */
const ABOUT_OTHERS: ReadonlySet<string> = new Set([
  'NoFailedStage',
  'RevertPlanned',
  'RevertProposed',
  'RevertPushed',
]);

function failureText({
  stage,
  failedClusters = [],
}: Pick<PipelineRevert, 'stage' | 'failedClusters'>): string {
  const clusters = failedClusters.map(({ name, reason = 'Failed' }) => `${name} ${reason}`);
  const named = clusters.length === 0 ? '' : ` (${listNames(clusters)})`;
  return `the failure budget of stage ${stage} is spent${named}`;
}

export function formatReverts(reverts: readonly RevertExplanation[], columns: number): string {
  return reverts
    .map(({ reason, because, unblock }) => {
      const line = formatField('revert', `${reason}: ${because}`, columns);
      return `${line}${formatField('unblocks', unblock, columns)}`;
    })
    .join('');
}
