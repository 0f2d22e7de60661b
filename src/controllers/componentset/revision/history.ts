/** Records what became of the revisions of a set: which one to return to, and which one must not run again. Pure. */
import type { RevisionRecord } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { truncate } from '../../../kube/objects/truncate.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import type { Revision } from './resolve.ts';

/** The maximum length of a message of the status outside of its conditions. */
export const MAX_STATUS_MESSAGE = 256;

/** The number of records that the status holds at most. */
const MAX_RECORDS = 10;

/** The records of the revisions of a set, newest first. */
export type RevisionHistory = readonly RevisionRecord[];

/**
 * Adds the newest record, which replaces what was recorded of that revision before. When the history is full, the oldest record
 * is dropped, but never the last Completed one: a rollback returns to it.
 */
export function addRecord(history: RevisionHistory, record: RevisionRecord): RevisionHistory {
  const records = [record, ...history.filter(({ revision }) => revision !== record.revision)];
  const kept = records.find(({ result }) => result === 'Completed');
  while (records.length > MAX_RECORDS) {
    const oldest = records.findLastIndex((each) => each !== kept);
    records.splice(oldest, 1);
  }
  return records;
}

export function recordOf(history: RevisionHistory, revision: string): RevisionRecord | undefined {
  return history.find((record) => record.revision === revision);
}

/**
 * Tells whether a revision completed: a return to it is a revert, which needs no soak. One that was rolled back later is not
 * proven any more.
 */
export function isProvenRevision(history: RevisionHistory, revision: string): boolean {
  return recordOf(history, revision)?.result === 'Completed';
}

/** Tells whether a revision must not run again: it was rolled back, and `spec.retryToken` is still the same. */
export function isRefusedRevision(
  history: RevisionHistory,
  revision: string,
  retryToken: string | undefined,
): boolean {
  const record = recordOf(history, revision);
  return record?.result === 'RolledBack' && record.retryToken === retryToken;
}

/**
 * Tells whether machines go back from a revision. That is recorded before the first machine goes back, and without an end until
 * the last one has.
 */
export function isRollingBack(history: RevisionHistory, revision: string): boolean {
  const record = recordOf(history, revision);
  return record?.result === 'RolledBack' && record.finishedAt === undefined;
}

export interface RevisionEnd {
  readonly result: NonNullable<RevisionRecord['result']>;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  readonly commit?: string;
  readonly retryToken?: string;
  /** Why it failed. */
  readonly failure?: Pick<Explanation, 'reason' | 'because'>;
}

export function recordFor({ name, components }: Revision, end: RevisionEnd): RevisionRecord {
  const { result, startedAt, finishedAt, commit, retryToken, failure } = end;
  return {
    revision: name,
    components: components.map(({ componentRef }) => componentRef),
    result,
    ...optional('startedAt', startedAt),
    ...optional('finishedAt', finishedAt),
    ...optional('commit', commit),
    ...optional('retryToken', retryToken),
    ...(failure && failureRecord(failure)),
  };
}

export function failureRecord({
  reason,
  because,
}: Pick<Explanation, 'reason' | 'because'>): Pick<RevisionRecord, 'reason' | 'message'> {
  return { reason, message: truncate(because, MAX_STATUS_MESSAGE) };
}
