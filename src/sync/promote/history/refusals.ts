/** The heads of a repository that were refused, newest first, as `status.refused` of the Pipeline records them. Pure. */
import type { RefusedHead } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { HeadReport } from '../../commits.ts';

/** As many as the status of a Pipeline can hold. */
export const MAX_REFUSED_HEADS = 20;

/** A head that is refused again, for the same or another reason, keeps the time at which it was refused first. */
export function nextRefusals(
  recorded: readonly RefusedHead[] | undefined,
  { commit, verdict, message, observedAt }: HeadReport,
  now: Date,
): readonly RefusedHead[] | undefined {
  if (commit === undefined || verdict === 'Accepted' || verdict === 'Rendering') return recorded;
  const before = recorded ?? [];
  const known = before.find((each) => each.commit === commit);
  const refusal: RefusedHead = {
    commit,
    verdict,
    ...optional('message', message),
    seenAt: known?.seenAt ?? (observedAt ?? now).toISOString(),
  };
  const others = before.filter((each) => each !== known);
  return [refusal, ...others].slice(0, MAX_REFUSED_HEADS);
}
