/**
 * S2: decides whether the deletes of a unit need an acknowledgement. Deleting most of a unit, all of it or a protected
 * object is held until a commit acknowledges exactly this plan. Pure.
 */
import { byCode, digestOf } from '../../kube/objects/digest.ts';
import { type ObjectId, objectKey } from '../../kube/objects/object-id.ts';
import { isProtected } from '../protected-kinds.ts';

export interface DeleteBudget {
  readonly maxObjects: number;
  readonly maxPercent: number;
}

/** The defaults of `spec.deleteBudget` of a Pipeline (S2). */
export const DEFAULT_DELETE_BUDGET: DeleteBudget = { maxObjects: 10, maxPercent: 20 };

export interface Acknowledgement {
  readonly unit: string;
  readonly planDigest: string;
  readonly reason?: string;
}

/**
 * Returns the id that the inventory records when the acknowledgement has released a plan in its cluster: it releases no second
 * one. With another reason the same plan can be acknowledged again.
 */
export function acknowledgementId({ unit, planDigest, reason = '' }: Acknowledgement): string {
  return digestOf({ unit, planDigest, reason });
}

export interface Acknowledgements {
  /** The acknowledgements of the Pipeline. */
  readonly declared: readonly Acknowledgement[];
  /** The ids of the acknowledgements that have released a plan in this cluster. */
  readonly spent: readonly string[];
}

export interface UnitDeletes {
  readonly unit: string;
  /** How many objects of the unit are in this cluster now, including the deletes. */
  readonly present: number;
  /** How many objects the commit renders for the unit. */
  readonly desired: number;
  readonly deletes: readonly ObjectId[];
  /** Deletes that were acknowledged before, by UID, and are not finished: they are not judged again. */
  readonly acknowledged?: readonly ObjectId[];
}

export interface DeleteVerdict {
  readonly held: boolean;
  /** The digest that an acknowledgement names. It is equal for all clusters in which the same objects would be deleted. */
  readonly planDigest: string;
  readonly because: string;
  /** The id of the acknowledgement that releases this plan now. */
  readonly acknowledgedBy?: string;
}

export function judgeDeletes(
  unitDeletes: UnitDeletes,
  budget: DeleteBudget,
  { declared, spent }: Acknowledgements,
): DeleteVerdict {
  const planDigest = planDigestOf(unitDeletes);
  const because = holdReason(unitDeletes, budget);
  if (because === undefined) {
    return { held: false, planDigest, because: `${unitDeletes.deletes.length} deletes, within the budget` };
  }
  const matching = declared.filter((each) => releases(each, unitDeletes)).map(acknowledgementId);
  const acknowledgedBy = matching.find((id) => !spent.includes(id));
  if (acknowledgedBy !== undefined) {
    return { held: false, planDigest, because: `acknowledged: ${because}`, acknowledgedBy };
  }
  const hint =
    matching.length > 0 ? 'its acknowledgement is spent: to acknowledge it again, change the reason; ' : '';
  return { held: true, planDigest, because: `${hint}${because}` };
}

/** Tells whether the acknowledgement names the plan, or the plan of which a part was acknowledged when the process ended. */
function releases({ unit, planDigest }: Acknowledgement, plan: UnitDeletes): boolean {
  const whole = { ...plan, deletes: [...plan.deletes, ...(plan.acknowledged ?? [])] };
  return unit === plan.unit && [planDigestOf(plan), planDigestOf(whole)].includes(planDigest);
}

/** Computes the digest over the object keys only, so that an acknowledgement stays valid while the plan is the same. */
export function planDigestOf({ unit, deletes }: Pick<UnitDeletes, 'unit' | 'deletes'>): string {
  return digestOf({ unit, deletes: deletes.map(objectKey).toSorted(byCode) });
}

function holdReason(
  { unit, present, desired, deletes }: UnitDeletes,
  budget: DeleteBudget,
): string | undefined {
  if (deletes.length === 0) return undefined;
  if (desired === 0) return `unit ${unit} renders to nothing: ${deletes.length} objects would be deleted`;
  const protectedKeys = deletes.filter(isProtected).map(objectKey).toSorted(byCode);
  if (protectedKeys.length > 0) return `protected objects would be deleted: ${firstOf(protectedKeys)}`;
  const allowed = Math.max(budget.maxObjects, Math.floor((present * budget.maxPercent) / 100));
  if (deletes.length <= allowed) return undefined;
  return `${deletes.length} of ${present} objects of unit ${unit} would be deleted: the delete budget is ${allowed}`;
}

function firstOf(all: readonly string[], most = 3): string {
  return `${all.slice(0, most).join(', ')}${all.length > most ? ` and ${all.length - most} more` : ''}`;
}
