/**
 * Changes of a value, one field at a time, from the schema of its CRD: a test that classifies fields meets a field that is
 * new without being told of it.
 */
import { isRecord, type JsonRecord, listAt, valueAt } from '../../../src/kube/objects/json.ts';
import { readCrd } from '../crd-defaults.ts';

export interface FieldChange {
  /** Without names and indices: `node.labels.*`, `node.taints[].effect`. */
  readonly field: string;
  /** What is at the field now; undefined when it was removed. */
  readonly to: unknown;
  /** The whole value, with this one change. */
  readonly value: unknown;
}

/** The schema at a path of properties: `crdSchema('machinesets', 'spec', 'template')`. */
export function crdSchema(plural: string, ...path: readonly string[]): unknown {
  const [version] = listAt(readCrd(plural), 'spec', 'versions');
  const root = valueAt(version, 'schema', 'openAPIV3Schema');
  return path.reduce((schema, name) => valueAt(schema, 'properties', name), root);
}

/** Each field that has no fields of its own, as `FieldChange` names it. */
export function leafFields(schema: unknown, path = ''): readonly string[] {
  const properties = valueAt(schema, 'properties');
  if (isRecord(properties)) {
    return Object.entries(properties).flatMap(([name, inner]) => leafFields(inner, joined(path, name)));
  }
  const items = valueAt(schema, 'items');
  if (items !== undefined) return leafFields(items, `${path}[]`);
  return [valueAt(schema, 'additionalProperties') === undefined ? path : `${path}.*`];
}

/** Each enum gets every other value, each map and list loses, gains and changes entries, down to the last nested key. */
export function fieldChanges(schema: unknown, value: unknown, path = ''): readonly FieldChange[] {
  const properties = valueAt(schema, 'properties');
  if (isRecord(properties)) {
    return Object.entries(properties).flatMap(([name, inner]) =>
      fieldChanges(inner, valueAt(value, name), joined(path, name)).map((change) => ({
        ...change,
        value: withField(value, name, change.value),
      })),
    );
  }
  const items = valueAt(schema, 'items');
  if (items !== undefined && isList(value)) return entryChanges(items, value, `${path}[]`);
  const [field = path] = leafFields(schema, path);
  return otherValues(schema, value).map((other) => ({ field, to: other, value: other }));
}

/** Every value that differs from this JSON in one place: a key or an entry removed, added or changed, at any depth. */
export function nestedChanges(value: unknown): readonly unknown[] {
  if (isList(value)) {
    return [
      [...value, 'added'],
      ...value.map((_, index) => value.toSpliced(index, 1)),
      ...value.flatMap((entry, index) => nestedChanges(entry).map((other) => value.with(index, other))),
    ];
  }
  if (!isRecord(value)) return [scalarAfter(value)];
  return [
    { ...value, added: 'x' },
    ...Object.keys(value).map((key) => withField(value, key, undefined)),
    ...Object.entries(value).flatMap(([key, inner]) =>
      nestedChanges(inner).map((other) => ({ ...value, [key]: other })),
    ),
  ];
}

function entryChanges(items: unknown, list: readonly unknown[], path: string): readonly FieldChange[] {
  return list.flatMap((entry, index) =>
    fieldChanges(items, entry, path).map((change) => ({ ...change, value: list.with(index, change.value) })),
  );
}

function otherValues(schema: unknown, value: unknown): readonly unknown[] {
  const choices = listAt(schema, 'enum');
  if (choices.length > 0) return choices.filter((choice) => choice !== value);
  return nestedChanges(value);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function scalarAfter(value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  return typeof value === 'string' ? `${value}x` : 'x';
}

/** Without the field where it has no value, as JSON has none. */
function withField(value: unknown, name: string, inner: unknown): JsonRecord {
  const { [name]: _, ...others } = isRecord(value) ? value : {};
  return inner === undefined ? others : { ...others, [name]: inner };
}

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
