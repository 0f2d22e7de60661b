/** Takes the writes and the deletes of units out of a plan whose ServiceAccount may not carry all of them out. Pure. */
import type { IdentityReason } from '../../../api/status/sync-words.ts';
import { objectKey } from '../../../kube/objects/object-id.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { isWrite, type TargetPlan } from '../plan.ts';
import type { PrunePlan } from '../prune/plan.ts';

export interface BlockedUnit {
  readonly reason: IdentityReason;
  readonly because: string;
}

const REMOVALS: ReadonlySet<PrunePlan['action']> = new Set(['mark', 'delete', 'release'] as const);

/** Returns the plan in which everything of these units waits. What is only read stays: that an object is deleted is still noticed. */
export function withoutBlockedUnits(
  plan: TargetPlan,
  blocked: ReadonlyMap<string, BlockedUnit>,
  { entries }: Pick<Inventory, 'entries'>,
): TargetPlan {
  if (blocked.size === 0) return plan;
  return {
    ...plan,
    objects: plan.objects.map((object) => {
      const found = isWrite(object) ? blocked.get(object.unit) : undefined;
      if (!found) return object;
      return { ...object, action: 'wait', because: found.because, waitReason: found.reason } as const;
    }),
    prune: plan.prune.map((removal) => {
      const found = REMOVALS.has(removal.action) ? blocked.get(removal.entry.unit) : undefined;
      if (!found) return removal;
      // Nothing of it is recorded yet, such as the acknowledgement of its delete.
      const entry = entries.get(objectKey(removal.entry)) ?? removal.entry;
      return { action: 'wait', entry, because: found.because, waitReason: found.reason } as const;
    }),
  };
}
