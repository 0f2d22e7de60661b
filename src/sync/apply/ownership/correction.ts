/** Describes what a write of sync corrected: which fields others had changed, who and when, or that the object was missing. Pure. */
import { byCode } from '../../../kube/objects/digest.ts';
import type { KubeObject, ManagedFields } from '../../../kube/objects/object.ts';
import { objectKey } from '../../../kube/objects/object-id.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { truncate } from '../../../kube/objects/truncate.ts';
import type { DriftCorrection } from '../../drift-history.ts';
import { driftedFields, projectionOf } from '../drift.ts';
import type { ObjectPlan } from '../plan.ts';
import { ownersOfDrift } from './field-owners.ts';

export interface CorrectedWrite {
  /** The object as the server returned it. */
  readonly applied: KubeObject;
  readonly commit: string;
  readonly foundAt: Date;
  readonly correctedAt: Date;
}

/** These limits are the same as in the schema of the status. */
const MAX_FIELDS = 5;
const MAX_MANAGERS = 3;
const MAX_LENGTH = 128;

/**
 * Returns what the write corrected. Undefined for a change of git, and for a write that changed nothing: a server may store a
 * value in another form.
 */
export function correctionOf(plan: ObjectPlan, write: CorrectedWrite): DriftCorrection | undefined {
  const change = plan.drifted
    ? changedFields(plan, plan.drifted, write.applied)
    : missingObject(plan, write.applied);
  if (!change) return undefined;
  return {
    object: objectKey(plan.id),
    unit: plan.unit,
    ...change,
    foundAt: write.foundAt.toISOString(),
    correctedAt: write.correctedAt.toISOString(),
    commit: write.commit,
  };
}

type Change = Pick<DriftCorrection, 'change' | 'fields' | 'managers' | 'changedAt'>;

function changedFields({ object }: ObjectPlan, drifted: KubeObject, applied: KubeObject): Change | undefined {
  if (projectionOf(object, drifted) === projectionOf(object, applied)) return undefined;
  const owners = ownersOfDrift(object, drifted);
  const managers = [...new Set(owners.map(({ manager }) => truncate(manager, MAX_LENGTH)))].toSorted(byCode);
  return {
    change: 'Changed',
    fields: driftedFields(object, drifted, MAX_FIELDS).map((path) => truncate(path, MAX_LENGTH)),
    ...optional('managers', managers.length > 0 ? managers.slice(0, MAX_MANAGERS) : undefined),
    ...optional('changedAt', newestTime(owners)),
  };
}

/**
 * Returns the change if git still declares what was applied, and the object was not observed: it was deleted, or its owner labels
 * were removed.
 */
function missingObject({ action, entry, digest }: ObjectPlan, { metadata }: KubeObject): Change | undefined {
  if (action !== 'create' || entry?.applied !== digest) return undefined;
  return metadata.uid === entry.uid
    ? { change: 'Changed', fields: ['metadata.labels'] }
    : { change: 'Deleted' };
}

function newestTime(owners: readonly ManagedFields[]): string | undefined {
  const times = owners.flatMap(({ time }) => (time === undefined ? [] : [time]));
  return times.toSorted((a, b) => Date.parse(b) - Date.parse(a))[0];
}
