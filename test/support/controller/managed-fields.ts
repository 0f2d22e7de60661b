/** Server-side apply and the ownership of fields, as the API server does it. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../../src/kube/objects/json.ts';
import type { KubeObject, ManagedFields } from '../../../src/kube/objects/object.ts';
import {
  type FieldSegments,
  fieldsV1Of,
  keySegment,
  type Leaf,
  type ListTypes,
  leavesOf,
  pathsOfFieldsV1,
  samePath,
  valueAtSegments,
  withoutSegments,
} from './field-set.ts';

export interface FieldWriter {
  readonly manager: string;
  readonly subresource: string | undefined;
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

export function applyFields(
  live: KubeObject,
  intent: KubeObject,
  { lists, ...writer }: FieldWriter & { readonly lists: ListTypes },
): AppliedFields {
  const leaves = ownableLeaves(intent, lists);
  const managed = live.metadata.managedFields ?? [];
  const mine = managed.find((entry) => isEntryOf(entry, writer, 'Apply'));
  const others = managed.filter((entry) => entry !== mine);
  const conflicts = conflictsWith(others, leaves, live);
  const dropped = pathsOfFieldsV1(mine?.fieldsV1).filter(
    (path) =>
      !leaves.some((leaf) => samePath(leaf.path.slice(0, path.length), path)) &&
      !others.some((entry) => ownsWithin(entry, path)),
  );
  const merged = mergeValues(live, withoutIdentity(intent), { lists, field: '' });
  const object = dropped.reduce<unknown>((at, path) => withoutSegments(at, path), merged) as KubeObject;
  const taken = leaves.filter((leaf) => isTaken(leaf, live)).map(({ path }) => path);
  return {
    conflicts,
    object: withManaged(object, [
      ...others.flatMap((entry) => without(entry, taken)),
      ...entryOf(
        writer,
        'Apply',
        leaves.map(({ path }) => path),
      ),
    ]),
  };
}

/** After an update or a patch: its writer owns what changed, and no other manager does. */
export function updateFields(
  before: KubeObject | undefined,
  after: KubeObject,
  { lists, ...writer }: FieldWriter & { readonly lists: ListTypes },
): KubeObject {
  const leaves = ownableLeaves(after, lists);
  const changed = leaves
    .filter(
      ({ path, value }) =>
        !before || !isDeepStrictEqual(valueAtSegments(before, path), valueOf(value, after, path)),
    )
    .map(({ path }) => path);
  const managed = before?.metadata.managedFields ?? [];
  const mine = managed.find((entry) => isEntryOf(entry, writer, 'Update'));
  const present = (path: FieldSegments): boolean => valueAtSegments(after, path) !== undefined;
  const kept = pathsOfFieldsV1(mine?.fieldsV1).filter((path) => !changed.some((one) => samePath(one, path)));
  const others = managed
    .filter((entry) => entry !== mine)
    .flatMap((entry) => {
      const missing = pathsOfFieldsV1(entry.fieldsV1).filter((path) => !present(path));
      return without(entry, [...changed, ...missing]);
    });
  return withManaged(after, [...others, ...entryOf(writer, 'Update', [...kept, ...changed].filter(present))]);
}

function valueOf(value: unknown, object: KubeObject, path: FieldSegments): unknown {
  return path.at(-1) === '.' ? valueAtSegments(object, path) : value;
}

function ownableLeaves(object: KubeObject, lists: ListTypes): Leaf[] {
  return leavesOf(withoutIdentity(object), lists).filter(({ path }) => path.length > 0);
}

function withoutIdentity({ metadata, ...object }: KubeObject): Record<string, unknown> {
  const rest = Object.fromEntries(
    Object.entries(object).filter(([field]) => field !== 'apiVersion' && field !== 'kind'),
  );
  const own = Object.entries(metadata).filter(([field]) => !NOT_OWNED.has(field));
  return own.length > 0 ? { ...rest, metadata: Object.fromEntries(own) } : rest;
}

function conflictsWith(
  others: readonly ManagedFields[],
  leaves: readonly Leaf[],
  live: KubeObject,
): string[] {
  const taken = leaves.filter((leaf) => isTaken(leaf, live));
  return others.flatMap((entry) =>
    taken.filter(({ path }) => owns(entry, path)).map(({ path }) => `${entry.manager}: ${textOf(path)}`),
  );
}

/** Another value than what is there. */
function isTaken({ path, value }: Leaf, live: KubeObject): boolean {
  return path.at(-1) !== '.' && !isDeepStrictEqual(valueAtSegments(live, path), value);
}

function owns({ fieldsV1 }: ManagedFields, path: FieldSegments): boolean {
  return pathsOfFieldsV1(fieldsV1).some((own) => samePath(own, path));
}

/** The field, or one below it: an object that was empty when it was applied goes only when no manager owns a part of it. */
function ownsWithin({ fieldsV1 }: ManagedFields, path: FieldSegments): boolean {
  return pathsOfFieldsV1(fieldsV1).some((own) => samePath(own.slice(0, path.length), path));
}

function without(entry: ManagedFields, paths: readonly FieldSegments[]): ManagedFields[] {
  const left = pathsOfFieldsV1(entry.fieldsV1).filter((path) => !paths.some((one) => samePath(one, path)));
  return left.length === 0 ? [] : [{ ...entry, fieldsV1: fieldsV1Of(left) }];
}

function entryOf(
  { manager, subresource }: FieldWriter,
  operation: ManagedFields['operation'],
  paths: readonly FieldSegments[],
): ManagedFields[] {
  if (paths.length === 0) return [];
  return [{ manager, operation, ...(subresource ? { subresource } : {}), fieldsV1: fieldsV1Of(paths) }];
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

function withManaged(object: KubeObject, managedFields: readonly ManagedFields[]): KubeObject {
  return { ...object, metadata: { ...object.metadata, managedFields } };
}

function mergeValues(
  live: unknown,
  intent: unknown,
  { lists, field }: { readonly lists: ListTypes; readonly field: string },
): unknown {
  if (isRecord(intent)) {
    const base = isRecord(live) ? live : {};
    const merged = Object.entries(intent).map(([name, value]) => [
      name,
      mergeValues(base[name], value, { lists, field: name }),
    ]);
    return { ...base, ...(Object.fromEntries(merged) as object) };
  }
  const type = lists[field];
  if (!Array.isArray(intent) || type === undefined) return intent;
  const [before, after] = [Array.isArray(live) ? (live as unknown[]) : [], intent as unknown[]];
  if (type === 'set') return [...before, ...after.filter((entry) => !before.includes(entry))];
  const keyOf = (entry: unknown): string => keySegment(entry, type);
  const kept = before.map((entry) => {
    const same = after.find((one) => keyOf(one) === keyOf(entry));
    return same === undefined ? entry : mergeValues(entry, same, { lists, field: '' });
  });
  const known = new Set(before.map(keyOf));
  return [...kept, ...after.filter((entry) => !known.has(keyOf(entry)))];
}

function textOf(path: FieldSegments): string {
  return path.map((segment) => (segment.startsWith('f:') ? `.${segment.slice(2)}` : `[${segment}]`)).join('');
}
