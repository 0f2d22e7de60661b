/** Records the heads of a repository that were refused, newest first, in `status.refused` of the Pipeline. Pure. */
import type { RefusedHead } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { HeadReport } from '../../commits.ts';

/** The status of a Pipeline holds no more. */
export const MAX_REFUSED_HEADS = 20;

/**
 * A head that is refused again, for the same or another reason, keeps the time at which it was refused first. One that is accepted
 * later, by a person or by another try, is applied: it is removed.
 */
export function nextRefusals(
  recorded: readonly RefusedHead[] | undefined,
  { commit, verdict, message, observedAt }: HeadReport,
  now: Date,
): readonly RefusedHead[] | undefined {
  if (commit === undefined || verdict === 'Rendering') return recorded;
  const others = without(recorded, commit);
  if (verdict === 'Accepted') return others;
  const { seenAt } = recorded?.find((each) => each.commit === commit) ?? {
    seenAt: (observedAt ?? now).toISOString(),
  };
  const refusal: RefusedHead = { commit, verdict, ...optional('message', message), seenAt };
  return [refusal, ...(others ?? [])].slice(0, MAX_REFUSED_HEADS);
}

function without(
  recorded: readonly RefusedHead[] | undefined,
  commit: string,
): readonly RefusedHead[] | undefined {
  const isOther = (head: RefusedHead): boolean => head.commit !== commit;
  return recorded?.every(isOther) ? recorded : recorded?.filter(isOther);
}
