/**
 * How much a commit may delete without a person's word: S2. Losing most of a unit, all of it, or one protected
 * object holds the deletes of that unit until a commit acknowledges exactly this plan. Pure.
 */

import { byCode, digestOf } from '../../kube/objects/digest.ts';
import { type ObjectId, objectKey } from '../../kube/objects/object-id.ts';
import { isProtected } from '../protected-kinds.ts';

export interface DeleteBudget {
  readonly maxObjects: number;
  readonly maxPercent: number;
}

export interface Acknowledgement {
  readonly unit: string;
  readonly planDigest: string;
}

export interface UnitDeletes {
  readonly unit: string;
  /** What the unit holds in this cluster now, the deletes among them. */
  readonly present: number;
  /** What the commit renders for it. */
  readonly wanted: number;
  readonly deletes: readonly ObjectId[];
}

export interface DeleteVerdict {
  readonly held: boolean;
  /** What an acknowledgement has to name. The same for every cluster in which the same objects go. */
  readonly planDigest: string;
  readonly because: string;
}

export function judgeDeletes(
  asked: UnitDeletes,
  budget: DeleteBudget,
  acknowledgements: readonly Acknowledgement[],
): DeleteVerdict {
  const planDigest = planDigestOf(asked);
  const objection = objectionTo(asked, budget);
  if (!objection) {
    return { held: false, planDigest, because: `${asked.deletes.length} deletes, within the budget` };
  }
  const known = acknowledgements.some((ack) => ack.unit === asked.unit && ack.planDigest === planDigest);
  if (known) return { held: false, planDigest, because: `acknowledged: ${objection}` };
  return { held: true, planDigest, because: objection };
}

/** Over the names alone, so that the acknowledgement of a plan holds for as long as the plan is the same. */
export function planDigestOf({ unit, deletes }: Pick<UnitDeletes, 'unit' | 'deletes'>): string {
  return digestOf({ unit, deletes: deletes.map(objectKey).toSorted(byCode) });
}

function objectionTo(
  { unit, present, wanted, deletes }: UnitDeletes,
  budget: DeleteBudget,
): string | undefined {
  if (deletes.length === 0) return undefined;
  if (wanted === 0) return `unit ${unit} renders to nothing, and ${deletes.length} objects would go`;
  const precious = deletes.filter(isProtected).map(objectKey).toSorted(byCode);
  if (precious.length > 0) return `protected objects would go: ${firstOf(precious)}`;
  const allowed = Math.max(budget.maxObjects, Math.floor((present * budget.maxPercent) / 100));
  if (deletes.length <= allowed) return undefined;
  return `${deletes.length} of ${present} objects of unit ${unit} would go, the delete budget is ${allowed}`;
}

function firstOf(all: readonly string[], most = 3): string {
  return `${all.slice(0, most).join(', ')}${all.length > most ? ` and ${all.length - most} more` : ''}`;
}
