/** Formats the plan of a pull request as a comment, and as a commit status. Pure. */
import { createHash } from 'node:crypto';
import type { PlannedPullRequest } from '../../api/generated/types.ts';
import { markdownCode, markdownText, printableLine } from '../../kube/objects/printable.ts';
import { truncate } from '../../kube/objects/truncate.ts';
import { formatPreviewMarkdown } from '../preview/markdown.ts';
import { previewVerdict } from '../preview/preview.ts';
import { summarizePreview } from '../preview/text.ts';
import { shortMessage } from '../report/desired-statuses.ts';
import type { HeadPlan } from './head-plan.ts';

export interface PullComment
  extends Pick<PlannedPullRequest, 'planDigest' | 'state' | 'message' | 'isPartial'> {
  readonly message: string;
  readonly body: string;
}

export interface PullCommentInput {
  readonly marker: string;
  readonly pipeline: string;
  readonly head: string;
  readonly base: string;
  readonly plan: HeadPlan;
}

/** Identifies the comments of one Pipeline. */
export interface MarkerInput {
  /** The UID of the Pipeline: the git host never shows it. */
  readonly uid: string;
  readonly address: string;
  readonly number: number;
}

/**
 * Returns the first line of the comment, by which a process finds the one that an earlier process wrote and did not record. It cannot be
 * guessed before that comment exists, so the oldest comment with it is the one of sync.
 */
export function commentMarker({ uid, address, number }: MarkerInput): string {
  const id = createHash('sha256')
    .update(JSON.stringify([uid, address, number]))
    .digest('hex')
    .slice(0, 32);
  return `<!-- kubenode plan ${id} -->`;
}

/** The limit of GitHub is 65,536 characters, the lowest of the three. */
const MAX_BYTES = 60_000;
/** A refusal lists up to some dozens of objects. */
const MAX_REFUSAL = 4000;

export function pullComment(input: PullCommentInput): PullComment {
  const { marker, pipeline, plan, head, base } = input;
  if (plan.outcome === 'Refused') {
    const { message } = plan;
    const lines = [
      marker,
      `### kubenode plan of ${markdownText(pipeline)}: REFUSED`,
      '',
      `${markdownCode(base)} → ${markdownCode(head)}`,
      '',
      `Nothing of this commit would be applied: ${markdownText(truncate(message, MAX_REFUSAL))}`,
      '',
    ];
    return { body: lines.join('\n'), state: 'Failed', message: shortMessage(`REFUSED: ${message}`) };
  }
  const preview = { ...plan.preview, from: base, to: head };
  const notes = [...(plan.isBehind ? [behindNote(base)] : []), ...plan.notes.map(printableLine)];
  const markdown = formatPreviewMarkdown(preview, { of: pipeline, notes, maxBytes: MAX_BYTES });
  const verdict = previewVerdict(preview);
  return {
    body: `${marker}\n${markdown}`,
    planDigest: preview.digest,
    state: verdict === 'refused' || verdict === 'held' ? 'Failed' : 'Succeeded',
    message: shortMessage(summarizePreview(preview)),
    isPartial: preview.targets.some(({ by }) => by === 'unknown'),
  };
}

function behindNote(base: string): string {
  return `the branch does not contain ${base}: what was merged since shows as taken back. Update the branch to see what merging it does`;
}
