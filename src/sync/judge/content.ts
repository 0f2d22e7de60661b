/** Judges the objects of a commit: accepted, or refused with the first problems. */
import type { ContentVerdict } from '../content-verdict.ts';
import type { Rendered } from '../rendered.ts';
import { findAllRefusals, MAX_REFUSALS, type ObjectChecks } from './object-checks.ts';
import type { Refusal } from './refusal.ts';
import { groupRefusals } from './refusal-groups.ts';

const MAX_SHOWN = 5;
/** A path or a message may quote a field of any length. */
const MAX_TEXT = 1000;

export async function judgeContent(
  rendered: Pick<Rendered, 'targets'>,
  checks: ObjectChecks,
): Promise<ContentVerdict> {
  const objects = rendered.targets.reduce(
    (sum, { units }) => sum + units.reduce((all, unit) => all + unit.objects.length, 0),
    0,
  );
  if (objects === 0) {
    const message =
      'the commit renders no objects: it is refused and deletes nothing. Push a commit that renders objects';
    return { accepted: false, message };
  }
  const refused = await findAllRefusals(rendered, checks);
  if (refused.length === 0) return { accepted: true, because: `all ${objects} objects are allowed` };
  return { accepted: false, message: refusalMessage(refused) };
}

/** Formats the first refusals for the status of the Pipeline. */
export function refusalMessage(refused: readonly Refusal[]): string {
  const groups = groupRefusals(refused);
  const shown = groups
    .slice(0, MAX_SHOWN)
    .map(({ targets, object, source, message }) =>
      shorten(`${object} of ${targets}: ${message} [${source}]`),
    );
  const more = groups.length - shown.length;
  const isCut = refused.length >= MAX_REFUSALS;
  return [...shown, ...(more > 0 ? [`and ${isCut ? 'more than ' : ''}${more} more`] : [])].join('; ');
}

function shorten(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT).toWellFormed()}…` : text;
}
