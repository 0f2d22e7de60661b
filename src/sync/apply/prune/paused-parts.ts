/**
 * Takes what must wait out of a plan: every write and every delete of a unit or an object that a person paused, and what would
 * delete its objects with it. Pure.
 */
import { pausedObjectName } from '../../../api/status/pauses.ts';
import { OBJECT_PAUSED, UNIT_PAUSED } from '../../../api/status/sync-words.ts';
import { type ObjectId, objectKey } from '../../../kube/objects/object-id.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { isCrdId } from '../../protected-kinds.ts';
import type { ApplyInput } from '../input.ts';
import type { InventoryEntry } from '../inventory/inventory.ts';
import { definedKind } from '../order.ts';
import type { ObjectPlan, PausedPart, TargetPlan } from '../plan.ts';
import type { PrunePlan } from './plan.ts';

type PlanInput = Pick<ApplyInput, 'live' | 'inventory' | 'pausedUnits' | 'pausedObjects'>;
type Part = Omit<PausedPart, 'differing' | 'removed'>;

/**
 * Returns the plan without what is paused. An object that moves between two units waits for both: its labels and its entry stay
 * as they are.
 */
export function withoutPausedParts(plan: TargetPlan, input: PlanInput): TargetPlan {
  const { pausedUnits, pausedObjects } = input;
  if ((pausedUnits?.size ?? 0) + (pausedObjects?.size ?? 0) === 0) return plan;
  const counts = new Map<string, PausedPart>();
  const count = (part: Part, field: 'differing' | 'removed'): void => {
    const before = counts.get(part.name) ?? { ...part, differing: 0, removed: 0 };
    counts.set(part.name, { ...before, [field]: before[field] + 1 });
  };
  const objects = plan.objects.map((object) => {
    const part = isIdle(object)
      ? undefined
      : pausedPart(input, object.id, [object.unit, ...unitsOf(object.entry)]);
    if (part === undefined) return object;
    count(part, 'differing');
    const because = `${object.action}: ${object.because}`;
    return { ...object, action: 'paused', pausedBy: part.reason, because } as const;
  });
  const prune = plan.prune.map((removal) => {
    const leaves = removal.action === 'keep' || removal.keptByOthers;
    const part = leaves ? undefined : pausingPart(input, removal);
    if (part === undefined) return removal;
    count(part, 'removed');
    const entry = input.inventory.entries.get(objectKey(removal.entry)) ?? removal.entry;
    const because = `not deleted: ${part.name} is paused`;
    return { action: 'paused', pausedBy: part.reason, entry, because } as const;
  });
  const unmatched = unmatchedPauses(plan, input);
  return {
    objects,
    prune,
    holds: plan.holds.filter(({ unit }) => holdsDeletes(prune, unit)),
    paused: [...counts.values()],
    ...optional('unmatchedPauses', unmatched.length > 0 ? unmatched : undefined),
  };
}

/** Nothing is asked of a person while all deletes of the unit wait for the end of a pause anyway. */
function holdsDeletes(prune: readonly PrunePlan[], unit: string): boolean {
  return prune.some(({ action, entry }) => action === 'held' && entry.unit === unit);
}

/** A misspelt name pauses nothing, and the person who wrote it relies on it. */
function unmatchedPauses({ objects, prune }: TargetPlan, { pausedObjects }: PlanInput): readonly string[] {
  if (!pausedObjects) return [];
  const ids = [...objects.map(({ id }) => id), ...prune.map(({ entry }) => entry)];
  const known = new Set(ids.map((id) => pausedObjectName(id)));
  return [...pausedObjects.keys()].filter((name) => !known.has(name));
}

function isIdle({ action }: ObjectPlan): boolean {
  return action === 'same' || action === 'wait';
}

/** While an object moves, its label may still name the previous unit. */
function unitsOf(entry: InventoryEntry | undefined): readonly string[] {
  return entry ? [entry.unit, ...(entry.from === undefined ? [] : [entry.from])] : [];
}

function pausedPart(
  { pausedUnits, pausedObjects }: PlanInput,
  id: ObjectId,
  units: readonly string[],
): Part | undefined {
  for (const unit of units) {
    const because = pausedUnits?.get(unit);
    if (because !== undefined) return { name: `unit ${unit}`, reason: UNIT_PAUSED, because };
  }
  if (!pausedObjects) return undefined;
  const object = pausedObjectName(id);
  const because = pausedObjects.get(object);
  return because === undefined ? undefined : { name: `object ${object}`, reason: OBJECT_PAUSED, because };
}

function pausingPart(input: PlanInput, { action, entry }: PrunePlan): Part | undefined {
  const own = partOfEntry(input, entry);
  if (own !== undefined || (action !== 'delete' && action !== 'mark')) return own;
  for (const other of input.inventory.entries.values()) {
    const part = partOfEntry(input, other);
    if (part !== undefined && isDeletedWith(input, entry, other)) return part;
  }
  return undefined;
}

function partOfEntry(input: PlanInput, entry: InventoryEntry): Part | undefined {
  return pausedPart(input, entry, unitsOf(entry));
}

/** The server deletes what is in a Namespace, and what is of the kind of a CRD. */
function isDeletedWith(input: PlanInput, removed: InventoryEntry, other: InventoryEntry): boolean {
  if (removed.group === '' && removed.kind === 'Namespace') return other.namespace === removed.name;
  const crd = isCrdId(removed) ? input.live(removed) : undefined;
  return typeof crd === 'object' && definedKind(crd) === `${other.group}/${other.kind}`;
}
