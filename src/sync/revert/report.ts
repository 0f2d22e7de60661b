/** Tells in a condition what became of the commits that failed in a stage now. Pure. */
import type { PipelineRevert } from '../../api/generated/types.ts';
import type { CommitStatusReport } from '../commits.ts';
import type { StageFailure } from './plan.ts';
import type { RevertRefusal } from './refusal.ts';

export interface RevertReportInput {
  readonly failures: readonly StageFailure[];
  readonly records: readonly PipelineRevert[];
  /** The commits of which no revert is made. */
  readonly refusals: ReadonlyMap<string, RevertRefusal>;
  /** Why nothing is pushed now. */
  readonly waiting: string | undefined;
  /** The failure of git or of its host. */
  readonly problem: CommitStatusReport['problem'];
}

export function revertReport(input: RevertReportInput): CommitStatusReport {
  const { failures, refusals, waiting, problem } = input;
  if (problem) return { problem };
  if (waiting !== undefined) return { problem: { status: 'False', reason: 'Paused', message: waiting } };
  const refused = failures.map(({ commit }) => refusals.get(commit)).find((each) => each !== undefined);
  if (!refused) return doneReport(input);
  if (refused.reason === 'AlreadyReverted') return { done: refused };
  return { problem: { status: 'False', ...refused } };
}

function doneReport({ failures, records }: RevertReportInput): CommitStatusReport {
  const found = failures.map(({ commit }) => records.find((each) => each.commit === commit));
  const record = found.find((each) => each !== undefined);
  return record ? { done: { reason: revertReason(record), message: revertSentence(record) } } : {};
}

export function revertReason({ state }: Pick<PipelineRevert, 'state'>): string {
  return `Revert${state}`;
}

/** Describes a revert, with what a person has to do. */
export function revertSentence(record: PipelineRevert): string {
  const { commit, stage, note } = record;
  const notes = note === undefined ? '' : `. Note: ${note}`;
  return `${commit} failed in stage ${stage}: ${SENTENCES[record.state](record)}${notes}`;
}

const SENTENCES: Readonly<Record<PipelineRevert['state'], (record: PipelineRevert) => string>> = {
  Planned: ({ revert }) => `its revert ${revert} is being pushed`,
  Pushed: ({ revert, proven }) => `sync has pushed ${revert}, which goes back to ${proven}`,
  Proposed: (record) =>
    `merge ${pullName(record)}, which goes back to ${record.proven}, or push a commit that fixes it`,
};

function pullName({ pullRequest, url }: PipelineRevert): string {
  const name = `pull request ${pullRequest ?? 'of the branch'}`;
  return url === undefined ? name : `${name} (${url})`;
}
