/** A preview as `status.plan`. Pure. */
import type { RolloutPlan, Wait } from '../../../api/generated/types.ts';
import { waitingSince } from '../../../api/status/waiting.ts';
import { canonicalJson } from '../../../kube/objects/digest.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { RolloutPreview } from './preview.ts';

const MAX_BATCHES = 32;
const MAX_NAMES = 20;

/** The estimate stays the same while the plan does: a set in a dry run is not written all the time. */
export function planStatus(preview: RolloutPreview, before: RolloutPlan | undefined, now: Date): RolloutPlan {
  const { batches, joining, holds } = preview;
  const wait = preview.wait ?? holds[0];
  const plan = {
    batches: batches.slice(0, MAX_BATCHES).map(({ machines }) => machines.length),
    class: preview.class,
    drains: preview.drains,
    grants: preview.grants,
    firstMachines: [...joining, ...batches.flatMap(({ machines }) => machines)].slice(0, MAX_NAMES),
    ...optional('wouldBlock', wait && blockedBy(wait, before?.wouldBlock, now)),
  };
  const { estimatedEndAt, ...known } = before ?? {};
  const isSame = canonicalJson(known) === canonicalJson(plan);
  const end = isSame ? estimatedEndAt : preview.endsAt?.toISOString();
  return { ...plan, ...optional('estimatedEndAt', end) };
}

function blockedBy(
  { reason, because, blocker }: NonNullable<RolloutPreview['wait']>,
  before: Wait | undefined,
  now: Date,
): Wait {
  return waitingSince({ reason, message: because, blocker }, before, now);
}
