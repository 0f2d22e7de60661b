/** Whether a commit may be promoted at all, and what to say when not. */

import type { HeadReport } from '../commits.ts';
import type { AncestryVerdict } from '../git/ancestry-guard.ts';
import { findRefusals, type ObjectChecks, type Refusal } from '../judge/object-checks.ts';
import type { Rendered } from '../rendered.ts';

export type CommitAcceptance =
  | { readonly accepted: true; readonly because: string }
  | { readonly accepted: false; readonly verdict: HeadReport['verdict']; readonly message: string };

const MAX_SHOWN = 5;

/** A head whose place in history is unknown is not accepted, and not refused for good either. */
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
      'the commit renders to nothing at all: nothing is deleted on account of it. Push a commit that renders';
    return { accepted: false, verdict: 'Refused', message };
  }
  const found: Refusal[] = [];
  for (const target of rendered.targets) found.push(...(await findRefusals(target, checks)));
  if (found.length === 0) return { accepted: true, because: `${objects} objects, all of them allowed` };
  return { accepted: false, verdict: 'Refused', message: textOf(found) };
}

export function acceptRenderError(error: {
  readonly message: string;
  readonly hint?: string | undefined;
}): CommitAcceptance {
  const hint = error.hint ? `; ${error.hint}` : '';
  return { accepted: false, verdict: 'RenderFailed', message: `${error.message}${hint}` };
}

function textOf(found: readonly Refusal[]): string {
  const shown = found
    .slice(0, MAX_SHOWN)
    .map(({ target, object, source, message }) => `${object} of ${target}: ${message} [${source}]`);
  const more = found.length > MAX_SHOWN ? [`and ${found.length - MAX_SHOWN} more`] : [];
  return [...shown, ...more].join('; ');
}
