/** Takes the writes and the deletes of units out of a plan whose ServiceAccount may not carry all of them out. Pure. */
import { type IdentityReason, UNIT_NOT_READY } from '../../../api/status/sync-words.ts';
import { objectKey } from '../../../kube/objects/object-id.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { isWrite, type TargetPlan, type WaitingUnit } from '../plan.ts';
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
  const waitingUnits = plan.waitingUnits?.map((unit) => withReasonOf(unit, blocked.get(unit.dependency)));
  const waits = new Map(waitingUnits?.map(({ unit, because }) => [unit, because]));
  return {
    ...plan,
    ...optional('waitingUnits', waitingUnits),
    objects: plan.objects.map((object) => {
      if (object.waitReason === UNIT_NOT_READY) {
        return { ...object, because: waits.get(object.unit) ?? object.because };
      }
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

/** The unit was found to wait before it was known why the other one is not written. */
function withReasonOf(waiting: WaitingUnit, found: BlockedUnit | undefined): WaitingUnit {
  if (!found) return waiting;
  const { unit, dependency } = waiting;
  return { ...waiting, because: `unit ${unit} waits for unit ${dependency}: ${found.because}` };
}
