/** Computes which manager owns which fields, after an apply and after an update. Pure. */
import { isRecord, type JsonRecord } from '../../kube/objects/json.ts';
import type { KubeObject, ManagedFields } from '../../kube/objects/object.ts';
import {
  changedFields,
  commonFields,
  type FieldSet,
  fieldSetOf,
  hasNoFields,
  removedFields,
  subtract,
  union,
} from './field-set.ts';
import type { FieldType } from './field-types.ts';
import { mergeFields, withoutFields } from './merge.ts';

export interface FieldWriter {
  readonly manager: string;
  readonly subresource?: string | undefined;
  readonly type: FieldType;
}

export interface AppliedFields {
  readonly object: KubeObject;
  /** `<manager>: <field>` for each field that another manager owns with another value. */
  readonly conflicts: readonly string[];
}

/** Set by the server, or identifying the object: no manager owns them. */
const NOT_OWNED: ReadonlySet<string> = new Set([
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
]);

export function applyFields(live: KubeObject, intent: KubeObject, writer: FieldWriter): AppliedFields {
  const { type } = writer;
  const desired = ownable(intent);
  const fields = fieldSetOf(desired, type);
  const managed = live.metadata.managedFields ?? [];
  const mine = managed.find((entry) => isEntryOf(entry, writer, 'Apply'));
  const others = managed.filter((entry) => entry !== mine);
  const taken = changedFields(live, desired, type);
  const merged = mergeFields(live, desired, type) as KubeObject;
  const dropped = mine && others.reduce(subtractWithin, subtract(setOf(mine), fields, 'within'));
  const object =
    dropped && !hasNoFields(dropped) ? (withoutFields(merged, dropped, type) as KubeObject) : merged;
  const removed = removedFields(merged, object, type);
  return {
    conflicts: taken ? others.flatMap((entry) => conflictsWith(entry, taken)) : [],
    object: withManaged(
      object,
      others
        .flatMap((entry) => without(entry, taken, 'same'))
        .flatMap((entry) => without(entry, removed, 'below')),
      entryOf(writer, 'Apply', fields),
    ),
  };
}

function subtractWithin(set: FieldSet | undefined, entry: ManagedFields): FieldSet | undefined {
  return set && subtract(set, setOf(entry), 'within');
}

/** After an update or a patch: its writer owns what changed, and no other manager does. */
export function updateFields(
  before: KubeObject | undefined,
  after: KubeObject,
  writer: FieldWriter,
): KubeObject {
  const { type } = writer;
  const [old, next] = [before && ownable(before), ownable(after)];
  const changed = old ? changedFields(old, next, type) : fieldSetOf(next, type);
  const removed = removedFields(old, next, type);
  const managed = (before?.metadata.managedFields ?? []).flatMap((entry) => without(entry, removed, 'below'));
  const mine = managed.find((entry) => isEntryOf(entry, writer, 'Update'));
  const others = managed.flatMap((entry) => (entry === mine ? [] : without(entry, changed, 'same')));
  const own = mine ? union(setOf(mine), changed) : (changed ?? {});
  return withManaged(after, others, entryOf(writer, 'Update', own));
}

function ownable({ metadata, ...content }: KubeObject): JsonRecord {
  const { apiVersion: _, kind: __, ...object } = content;
  const own: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(metadata)) if (!NOT_OWNED.has(field)) own[field] = value;
  return hasNoFields(own) ? object : { ...object, metadata: own };
}

function conflictsWith(entry: ManagedFields, taken: FieldSet): readonly string[] {
  return commonFields(setOf(entry), taken).map((field) => `${entry.manager}: ${field}`);
}

function setOf({ fieldsV1 }: ManagedFields): FieldSet {
  return isRecord(fieldsV1) ? (fieldsV1 as FieldSet) : {};
}

function without(
  entry: ManagedFields,
  fields: FieldSet | undefined,
  how: 'same' | 'below',
): readonly ManagedFields[] {
  const left = subtract(setOf(entry), fields, how);
  if (left === entry.fieldsV1) return [entry];
  return left && !hasNoFields(left) ? [{ ...entry, fieldsV1: left }] : [];
}

function entryOf(
  { manager, subresource }: FieldWriter,
  operation: ManagedFields['operation'],
  fields: FieldSet,
): readonly ManagedFields[] {
  if (hasNoFields(fields)) return [];
  return [{ manager, operation, ...(subresource ? { subresource } : {}), fieldsV1: fields }];
}

function isEntryOf(
  entry: ManagedFields,
  writer: FieldWriter,
  operation: ManagedFields['operation'],
): boolean {
  return (
    entry.manager === writer.manager &&
    entry.operation === operation &&
    (entry.subresource ?? '') === (writer.subresource ?? '')
  );
}

/** In the order of the names, so that a write that changes no owner changes nothing. */
function withManaged(
  object: KubeObject,
  others: readonly ManagedFields[],
  own: readonly ManagedFields[],
): KubeObject {
  const managedFields = [...others, ...own].toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  return { ...object, metadata: { ...object.metadata, managedFields } };
}

function nameOf({ manager, operation, subresource = '' }: ManagedFields): string {
  return `${manager} ${operation} ${subresource}`;
}
