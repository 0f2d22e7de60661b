/** Turns an Explanation into the `Wait` of our kinds. Pure. */
import type { Wait } from '../../api/generated/types.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Explanation } from '../../rollout/explanation.ts';

/** `since` stays while the reason and the blocker stay the same. */
export function waitFor(before: Wait | undefined, explanation: Explanation, now: Date): Wait {
  const since = before && isSame(before, explanation) ? before.since : now.toISOString();
  const { reason, blocker, because } = explanation;
  return { reason, ...optional('blocker', blocker), since, message: because };
}

function isSame(before: Wait, { reason, blocker }: Explanation): boolean {
  return (
    before.reason === reason &&
    before.blocker?.kind === blocker?.kind &&
    before.blocker?.name === blocker?.name
  );
}
