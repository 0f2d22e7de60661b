/**
 * Takes what must wait out of a plan: every write and every delete in a unit that a person paused, and what would delete its
 * objects with it. Pure.
 */
import { objectKey } from '../../../kube/objects/object-id.ts';
import { isCrdId } from '../../protected-kinds.ts';
import type { ApplyInput } from '../input.ts';
import type { InventoryEntry } from '../inventory/inventory.ts';
import { definedKind } from '../order.ts';
import type { ObjectPlan, TargetPlan } from '../plan.ts';
import type { PrunePlan } from './plan.ts';

type PlanInput = Pick<ApplyInput, 'live' | 'inventory' | 'pausedUnits'>;

/** An object that moves between two units waits for both: its labels and its entry stay as they are. */
export function withoutPausedUnits(plan: TargetPlan, input: PlanInput): TargetPlan {
  const { pausedUnits } = input;
  if (!pausedUnits || pausedUnits.size === 0) return plan;
  const counts = new Map<string, { differing: number; removed: number }>();
  const count = (unit: string, field: 'differing' | 'removed'): void => {
    const before = counts.get(unit) ?? { differing: 0, removed: 0 };
    counts.set(unit, { ...before, [field]: before[field] + 1 });
  };
  const objects = plan.objects.map((object) => {
    const unit = isIdle(object) ? undefined : pausedOf(input, [object.unit, ...unitsOf(object.entry)]);
    if (unit === undefined) return object;
    count(unit, 'differing');
    return { ...object, action: 'paused', because: `${object.action}: ${object.because}` } as const;
  });
  const prune = plan.prune.map((removal) => {
    const leaves = removal.action === 'keep' || removal.keptByOthers;
    const unit = leaves ? undefined : pausingUnit(input, removal);
    if (unit === undefined) return removal;
    count(unit, 'removed');
    const entry = input.inventory.entries.get(objectKey(removal.entry)) ?? removal.entry;
    return { action: 'paused', entry, because: `not deleted: unit ${unit} is paused` } as const;
  });
  return {
    objects,
    prune,
    holds: plan.holds.filter(({ unit }) => !pausedUnits.has(unit)),
    paused: [...counts].map(([unit, found]) => ({ unit, because: pausedUnits.get(unit) ?? '', ...found })),
  };
}

function isIdle({ action }: ObjectPlan): boolean {
  return action === 'same' || action === 'wait';
}

/** While an object moves, its label may still name the previous unit. */
function unitsOf(entry: InventoryEntry | undefined): readonly string[] {
  return entry ? [entry.unit, ...(entry.from === undefined ? [] : [entry.from])] : [];
}

function pausedOf({ pausedUnits }: PlanInput, units: readonly string[]): string | undefined {
  return units.find((unit) => pausedUnits?.has(unit));
}

function pausingUnit(input: PlanInput, { action, entry }: PrunePlan): string | undefined {
  const own = pausedOf(input, unitsOf(entry));
  if (own !== undefined || (action !== 'delete' && action !== 'mark')) return own;
  const dependent = [...input.inventory.entries.values()].find(
    (other) => pausedOf(input, unitsOf(other)) !== undefined && isDeletedWith(input, entry, other),
  );
  return pausedOf(input, unitsOf(dependent));
}

/** The server deletes what is in a Namespace, and what is of the kind of a CRD. */
function isDeletedWith(input: PlanInput, removed: InventoryEntry, other: InventoryEntry): boolean {
  if (removed.group === '' && removed.kind === 'Namespace') return other.namespace === removed.name;
  const crd = isCrdId(removed) ? input.live(removed) : undefined;
  return typeof crd === 'object' && definedKind(crd) === `${other.group}/${other.kind}`;
}
