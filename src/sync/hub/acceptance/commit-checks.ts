/** Whether a commit may be promoted, and the message when it may not. */
import type { HeadReport } from '../../commits.ts';
import type { AncestryVerdict } from '../../git/ancestry-guard.ts';
import { findAllRefusals, type ObjectChecks, type Refusal } from '../../judge/object-checks.ts';
import { groupRefusals } from '../../judge/refusal-groups.ts';
import type { Rendered } from '../../rendered.ts';

export type CommitAcceptance =
  | { readonly accepted: true; readonly because: string }
  | { readonly accepted: false; readonly verdict: HeadReport['verdict']; readonly message: string };

const MAX_SHOWN = 5;

export function acceptAncestry(verdict: AncestryVerdict): CommitAcceptance {
  if (verdict.verdict === 'Accepted') return { accepted: true, because: verdict.because };
  return { accepted: false, verdict: 'NotDescendant', message: verdict.because };
}

export async function acceptContent(rendered: Rendered, checks: ObjectChecks): Promise<CommitAcceptance> {
  const objects = rendered.targets.reduce(
    (sum, { units }) => sum + units.reduce((all, unit) => all + unit.objects.length, 0),
    0,
  );
  if (objects === 0) {
    const message =
      'the commit renders no objects: it is refused and deletes nothing. Push a commit that renders objects';
    return { accepted: false, verdict: 'Refused', message };
  }
  const refused = await findAllRefusals(rendered, checks);
  if (refused.length === 0) return { accepted: true, because: `all ${objects} objects are allowed` };
  return { accepted: false, verdict: 'Refused', message: messageOf(refused) };
}

interface ExplainedError {
  readonly message: string;
  readonly hint?: string | undefined;
}

export function acceptRenderError(error: ExplainedError): CommitAcceptance {
  return { accepted: false, verdict: 'RenderFailed', message: explain(error) };
}

/** For a commit that cannot be fetched or read, whenever it is tried. */
export function refuseCommit(error: ExplainedError): CommitAcceptance {
  return { accepted: false, verdict: 'Refused', message: explain(error) };
}

function explain({ message, hint }: ExplainedError): string {
  return hint ? `${message}; ${hint}` : message;
}

function messageOf(refused: readonly Refusal[]): string {
  const groups = groupRefusals(refused);
  const shown = groups
    .slice(0, MAX_SHOWN)
    .map(({ targets, object, source, message }) => `${object} of ${targets}: ${message} [${source}]`);
  const more = groups.length > MAX_SHOWN ? [`and ${groups.length - MAX_SHOWN} more`] : [];
  return [...shown, ...more].join('; ');
}
