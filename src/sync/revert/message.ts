/**
 * Writes the texts of a revert: its commit message and its pull request. They name what failed, and not with which message: a message may
 * contain what servers of the fleet answered, and more people read a git host. Pure.
 */
import type { PipelineRevert } from '../../api/generated/types.ts';
import { printableLine } from '../../kube/objects/printable.ts';
import { truncate } from '../../kube/objects/truncate.ts';
import { REVERT_TRAILER } from '../git/revert/revert.ts';

export type RevertText = Pick<
  PipelineRevert,
  'commit' | 'stage' | 'release' | 'proven' | 'failedClusters' | 'note'
> & {
  readonly pipeline: string;
  /** The first line of the message of the failed commit. */
  readonly subject: string;
};

const MAX_SUBJECT = 72;

export function revertTitle({ commit, stage, subject }: RevertText): string {
  const quoted = subject === '' ? commit.slice(0, 12) : `"${printableLine(subject)}"`;
  return `${truncate(`Revert ${quoted}`, MAX_SUBJECT)} (failed in stage ${stage})`;
}

/** The same record and Release give the same message, and so the same commit. */
export function revertMessage(text: RevertText): string {
  const { pipeline, commit, stage, release, proven } = text;
  const clusters = failedClusters(text);
  const lines = [
    revertTitle(text),
    '',
    `This reverts commit ${commit}`,
    `and what came before it since ${proven},`,
    `which is the newest commit that is proven in stage ${stage}.`,
    '',
    'The failure budget of the stage is spent:',
    ...clusters.map(({ name, reason = 'Failed' }) => `- ${name}: ${reason}`),
    '',
    `Kubenode-Pipeline: ${pipeline}`,
    `Kubenode-Stage: ${stage}`,
    `Kubenode-Release: ${release}`,
    `Kubenode-Failed-Clusters: ${clusters.map(({ name }) => name).join(', ')}`,
    'Kubenode-Cause: FailureBudgetSpent',
    `${REVERT_TRAILER}: ${proven}..${commit}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** Returns the description of the pull request, as Markdown. */
export function pullBody(text: RevertText): string {
  const { pipeline, commit, stage, release, proven, note } = text;
  const rows = failedClusters(text).map(({ name, reason = 'Failed' }) => `| ${name} | ${reason} |`);
  const lines = [
    `Commit \`${commit}\` has spent the failure budget of stage \`${stage}\` of Pipeline \`${pipeline}\`. Sync starts no further cluster of the stage.`,
    '',
    '| failed cluster | reason |',
    '|---|---|',
    ...rows,
    '',
    `This is one commit, which takes back all commits after \`${proven}\` up to \`${commit}\`. The stage has proven \`${proven}\`, so its clusters need no soak to return to it.`,
    ...(note === undefined ? [] : ['', `**Note:** ${printableLine(note)}`]),
    '',
    `Details: \`kubenode status\`, and Release \`${release}\` in the hub. Close this pull request if you fix the commit another way: sync does not propose its revert again.`,
  ];
  return lines.join('\n');
}

function failedClusters({
  failedClusters: found = [],
}: RevertText): NonNullable<PipelineRevert['failedClusters']> {
  return found;
}
