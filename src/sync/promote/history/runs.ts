/**
 * Records the commits that ran on a cluster, newest first, in `status.sync.history`. It is written together with the state
 * that it records: killed in between, sync loses both or neither. An entry that has ended never changes. Pure.
 */
import type { CommitRun } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';

/** The most entries that the status of a Cluster holds. */
export const MAX_RUNS = 32;

/** Describes what is assigned to a cluster now, and how far it is. */
export interface ObservedRun
  extends Pick<
    CommitRun,
    | 'commit'
    | 'digest'
    | 'state'
    | 'reason'
    | 'message'
    | 'pipeline'
    | 'stage'
    | 'author'
    | 'subject'
    | 'adopted'
    | 'decisions'
  > {
  /** The time when it was assigned, if that was recorded before there was a history. The default is now. */
  readonly startedAt?: string;
}

/** Returns the history with these runs. `runs` holds what was assigned until now, then what is assigned from now on, if that differs. */
export function nextHistory(
  before: readonly CommitRun[],
  runs: readonly ObservedRun[],
  now: Date,
): readonly CommitRun[] {
  return runs.reduce((history, run) => withRun(history, run, now), before);
}

function withRun(history: readonly CommitRun[], run: ObservedRun, now: Date): readonly CommitRun[] {
  const [open, ...earlier] = history;
  if (open === undefined || open.endedAt !== undefined) return startRun(history, run, now);
  if (isSameRun(open, run)) return [updateRun(open, run, now), ...earlier];
  return startRun([{ ...open, endedAt: now.toISOString() }, ...earlier], run, now);
}

/**
 * Tells whether the open entry is about this run. The digest of a commit that was found in an inventory is unknown until the
 * commit is rendered.
 */
function isSameRun(open: CommitRun, { commit, digest }: ObservedRun): boolean {
  if (open.commit !== commit) return false;
  return open.digest === undefined || digest === undefined || open.digest === digest;
}

function startRun(earlier: readonly CommitRun[], run: ObservedRun, now: Date): readonly CommitRun[] {
  const { commit, digest, state, pipeline, stage, adopted } = run;
  const started: CommitRun = {
    commit,
    ...optional('digest', digest),
    state,
    ...optional('pipeline', pipeline),
    ...optional('stage', stage),
    startedAt: run.startedAt ?? now.toISOString(),
    ...optional('sameContentAs', sameContent(earlier, run)),
    ...optional('adopted', adopted),
  };
  return [updateRun(started, run, now), ...earlier].slice(0, MAX_RUNS);
}

function sameContent(earlier: readonly CommitRun[], { commit, digest }: ObservedRun): string | undefined {
  if (digest === undefined) return undefined;
  return earlier.find((run) => run.digest === digest && run.commit !== commit)?.commit;
}

/** Updates the open entry. What was learned first about the commit stays. */
function updateRun(open: CommitRun, run: ObservedRun, now: Date): CommitRun {
  const { reason: _reason, message: _message, ...rest } = open;
  const { state, reason, message } = run;
  const provenAt = open.provenAt ?? (state === 'Proven' ? now.toISOString() : undefined);
  return {
    ...rest,
    ...optional('digest', open.digest ?? run.digest),
    state,
    ...optional('reason', reason),
    ...optional('message', message),
    ...optional('author', open.author ?? run.author),
    ...optional('subject', open.subject ?? run.subject),
    ...optional('provenAt', provenAt),
    ...optional('decisions', allDecisions(open, run)),
  };
}

const MAX_DECISIONS = 4;

function allDecisions(
  { decisions: before = [] }: CommitRun,
  { decisions = [] }: ObservedRun,
): readonly string[] | undefined {
  const all = [...new Set([...before, ...decisions])].slice(0, MAX_DECISIONS);
  return all.length > 0 ? all : undefined;
}
