/**
 * Decides which deletes wait until other objects of their unit are applied: those of objects that may be replaced, or still be
 * used, by an object that is not applied yet. Other deletes do not wait, because that one may never be applied. Pure.
 */
import { type ObjectId, objectKey } from '../../../kube/objects/object-id.ts';
import { isProtected } from '../../protected-kinds.ts';
import type { ObjectOutcome } from '../apply-steps.ts';
import { isSameStep } from '../order.ts';
import type { TargetPlan } from '../plan.ts';
import type { PrunePlan } from './plan.ts';

/** Each is an object that git declares and the cluster does not have yet. */
export interface UnappliedObject {
  readonly id: ObjectId;
  readonly unit: string;
  /** True if the cluster has what an earlier commit declared. */
  readonly hasEarlierContent: boolean;
}

/**
 * Returns the objects that are not applied yet. Those whose content was applied before and is unchanged do not count: they waited
 * or drifted after that, and neither replace nor use anything that a later commit removed.
 */
export function unappliedObjects(
  { objects }: Pick<TargetPlan, 'objects'>,
  outcomes: ReadonlyMap<string, ObjectOutcome>,
): UnappliedObject[] {
  return objects
    .filter(({ action, id }) => action !== 'same' && outcomes.get(objectKey(id))?.state !== 'applied')
    .filter(({ entry, digest }) => entry?.applied !== digest)
    .map(({ id, unit, entry }) => ({ id, unit, hasEarlierContent: entry?.applied !== undefined }));
}

/** Returns why the delete waits; undefined if it does not wait. */
export function postponedReason(
  { action, entry }: PrunePlan,
  unapplied: readonly UnappliedObject[],
): string | undefined {
  if (action !== 'delete' && action !== 'mark') return undefined;
  const first = unapplied.find((object) => object.unit === entry.unit && isRelated(entry, object));
  if (!first) return undefined;
  const why = first.hasEarlierContent ? 'may still use it' : 'may replace it';
  return `deleted after ${objectKey(first.id)} is applied, which ${why}`;
}

/**
 * Tells whether the object may replace or use the removed one. A new object replaces one of the same step, such as a ConfigMap or
 * a workload; an earlier one may use any object.
 */
function isRelated(removed: ObjectId, { id, hasEarlierContent }: UnappliedObject): boolean {
  if (isProtected(removed)) return true;
  const sharesNamespace =
    [removed.namespace, id.namespace].includes('') || removed.namespace === id.namespace;
  return sharesNamespace && (hasEarlierContent || isSameStep(removed, id));
}
