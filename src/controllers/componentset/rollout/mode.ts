/** Decides in which mode a rollout is, from the revision that is asked for and from what became of the others. Pure. */
import type { RevisionRecord } from '../../../api/generated/types.ts';
import { ANNOTATION_COMMIT } from '../../../api/names.ts';
import { optional } from '../../../kube/objects/optional.ts';
import {
  addRecord,
  failureRecord,
  isProvenRevision,
  isRefusedRevision,
  isRollingBack,
  type RevisionHistory,
  recordOf,
} from '../revision/history.ts';
import { withoutCheckRuns } from './checks/count.ts';
import type { RolloutInput, RolloutMode, RolloutProgress } from './input.ts';

export function modeOf(
  { set, desired }: RolloutInput,
  { history, updateRevision = '' }: RolloutProgress,
): RolloutMode {
  if ('problems' in desired) return 'Blocked';
  if (isSteady(history, updateRevision)) return 'Steady';
  if (isRollingBack(history, updateRevision)) return 'RollingBack';
  if (isRefusedRevision(history, updateRevision, set.spec.retryToken)) return 'Refused';
  return isProvenRevision(history, updateRevision) ? 'Revert' : 'Forward';
}

/**
 * Returns the revision to which machines go back: their grants are kept up as they were asked for, also in a freeze or under an
 * open breaker.
 */
export function returnRevision(input: RolloutInput): string | undefined {
  const mode = modeOf(input, input.progress);
  if (mode === 'RollingBack' || mode === 'Refused') return input.stable?.name;
  return mode === 'Revert' ? input.progress.updateRevision : undefined;
}

/**
 * Tells whether the completion of the revision is the last thing that happened. A revert to an older revision is not complete
 * before its machines are back.
 */
function isSteady([newest]: RevisionHistory, revision: string): boolean {
  return newest?.revision === revision && newest.result === 'Completed';
}

/** Pins the revision that is asked for: an edit begins a new rollout, and so does a new retry token after a rollback. */
export function beginRollout({ set, desired, progress, now }: RolloutInput): RolloutProgress {
  if ('problems' in desired) return progress;
  const { name } = desired.revision;
  const { batch, stopped, commit: before, ...rest } = progress;
  const { history, updateRevision } = rest;
  const left = withoutRetried(history, name, set);
  const start = { startedAt: now, ...optional('commit', commitOf(set)) };
  if (updateRevision !== name) {
    return { ...rest, updateRevision: name, ...start, history: supersede(progress, left, now) };
  }
  if (left !== history) return { ...rest, ...start, history: left };
  const isOver = stopped !== undefined && stopped.retryToken !== set.spec.retryToken;
  if (!isOver) return progress;
  return withoutCheckRuns({ ...rest, history, ...optional('commit', before), ...optional('batch', batch) });
}

/** The maximum length of a commit in the status: the API server would refuse the status with a longer one. */
const MAX_COMMIT = 64;

/** Undefined where the set is not from git. */
function commitOf({ metadata }: RolloutInput['set']): string | undefined {
  const commit = metadata.annotations?.[ANNOTATION_COMMIT];
  return commit !== undefined && commit.length <= MAX_COMMIT ? commit : undefined;
}

/** Drops the record of a revision that was rolled back under another retry token, so that it may run again. */
function withoutRetried(
  history: RevisionHistory,
  revision: string,
  { spec: { retryToken } }: RolloutInput['set'],
): RevisionHistory {
  const record = recordOf(history, revision);
  if (record?.result !== 'RolledBack' || record.retryToken === retryToken) return history;
  return history.filter((each) => each !== record);
}

/** Ends the rollout of the previous revision, unless it has ended already. */
function supersede(progress: RolloutProgress, history: RevisionHistory, now: Date): RevisionHistory {
  const { updateRevision: revision } = progress;
  if (revision === undefined) return history;
  const record = recordOf(history, revision);
  const finishedAt = now.toISOString();
  if (record?.result === 'RolledBack') {
    if (record.finishedAt !== undefined) return history;
    return history.map((each) => (each === record ? { ...record, finishedAt } : each));
  }
  // A revert to it that did not end does not make it less proven.
  if (record?.result === 'Completed') return history;
  return addRecord(history, { revision, result: 'Superseded', finishedAt, ...rolloutRecord(progress) });
}

/** Returns what the record has of a rollout, whatever became of it. */
function rolloutRecord({ startedAt, commit, stopped }: RolloutProgress): RevisionRecord {
  return {
    ...optional('startedAt', startedAt?.toISOString()),
    ...optional('commit', commit),
    ...(stopped && failureRecord(stopped)),
  };
}

/** Tells whether batches are started in this mode. */
export function rollsOut(mode: RolloutMode): boolean {
  return mode === 'Forward' || mode === 'Revert';
}
