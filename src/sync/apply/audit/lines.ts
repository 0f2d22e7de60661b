/** Describes writes of sync as lines of the audit record. Pure. */
import type { AuditObject } from '../../../api/audit/lines.ts';
import { GROUP } from '../../../api/names.ts';
import { listAt, textAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { type ObjectId, objectKey } from '../../../kube/objects/object-id.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { ObjectOutcome } from '../apply-steps.ts';
import type { InventoryEntry } from '../inventory/inventory.ts';
import type { ObjectPlan } from '../plan.ts';

export interface WriteContext {
  readonly commit: string;
  readonly now: Date;
}

/** Returns the line of an object that was sent. The message of a refusal may quote content, so only its reason is recorded. */
export function appliedLine(outcome: ObjectOutcome, { commit, now }: WriteContext): AuditObject {
  const { id, unit, entry, digest, action, because, object } = outcome.plan;
  const failed = outcome.state === 'failed';
  return {
    type: 'object',
    at: now.toISOString(),
    object: objectKey(id),
    unit,
    commit,
    act: ACTS[action] ?? 'Updated',
    outcome: failed ? 'Failed' : 'Succeeded',
    because: failed ? `${because}; ${outcome.reason}` : because,
    ...digests(id, entry?.applied, digest),
    ...optional('components', componentsOf(object)),
  };
}

const ACTS: Readonly<Partial<Record<ObjectPlan['action'], AuditObject['act']>>> = {
  create: 'Created',
  correct: 'Corrected',
};

export interface PrunedObject {
  readonly entry: InventoryEntry;
  readonly act: 'Deleted' | 'Released';
  readonly because: string;
}

export function removedLine(
  { entry, act, because }: PrunedObject,
  { commit, now }: WriteContext,
): AuditObject {
  return {
    type: 'object',
    at: now.toISOString(),
    object: objectKey(entry),
    unit: entry.unit,
    commit,
    act,
    outcome: 'Succeeded',
    because,
    ...digests(entry, entry.applied, undefined),
  };
}

/** A short secret can be guessed by the digest of its object. */
function digests(
  { group, kind }: ObjectId,
  before: string | undefined,
  after: string | undefined,
): Pick<AuditObject, 'before' | 'after'> {
  if (group === '' && kind === 'Secret') return {};
  return { ...optional('before', before), ...optional('after', after) };
}

const MAX_COMPONENTS = 32;

/** Returns the versions of a set: what changed on a node is found by the versions that its set declared at that time. */
function componentsOf(object: KubeObject): readonly string[] | undefined {
  if (object.kind !== 'MachineComponentSet' || !object.apiVersion.startsWith(`${GROUP}/`)) return undefined;
  return listAt(object, 'spec', 'components')
    .slice(0, MAX_COMPONENTS)
    .flatMap((each) => textAt(each, 'componentRef') ?? []);
}
