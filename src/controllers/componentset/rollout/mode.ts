/** Decides in which mode a rollout is, from the revision that is asked for and from what became of the others. Pure. */
import { optional } from '../../../kube/objects/optional.ts';
import {
  addRecord,
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
  const { batch: _batch, stopped, ...rest } = progress;
  const { history, updateRevision } = rest;
  const left = withoutRetried(history, name, set);
  if (updateRevision !== name) {
    return {
      ...rest,
      updateRevision: name,
      startedAt: now,
      history: supersede({ ...rest, history: left }, now),
    };
  }
  if (left !== history) return { ...rest, startedAt: now, history: left };
  const isOver = stopped !== undefined && stopped.retryToken !== set.spec.retryToken;
  return isOver ? withoutCheckRuns({ ...rest, history, ...optional('batch', progress.batch) }) : progress;
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
function supersede(progress: RolloutProgress, now: Date): RevisionHistory {
  const { history, updateRevision: revision, startedAt } = progress;
  if (revision === undefined) return history;
  const record = recordOf(history, revision);
  const finishedAt = now.toISOString();
  if (record?.result === 'RolledBack') {
    if (record.finishedAt !== undefined) return history;
    return history.map((each) => (each === record ? { ...record, finishedAt } : each));
  }
  // A revert to it that did not end does not make it less proven.
  if (record?.result === 'Completed') return history;
  const start = optional('startedAt', startedAt?.toISOString());
  return addRecord(history, { revision, result: 'Superseded', ...start, finishedAt });
}

/** Tells whether batches are started in this mode. */
export function rollsOut(mode: RolloutMode): boolean {
  return mode === 'Forward' || mode === 'Revert';
}
