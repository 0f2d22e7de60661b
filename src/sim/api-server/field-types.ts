/** Tells how the API server merges a field and fills in its default, by the schema of its kind. Pure. */
import { isRecord } from '../../kube/objects/json.ts';

/** As much of an OpenAPI schema as decides that. */
export interface FieldType {
  readonly properties?: Readonly<Record<string, FieldType>>;
  readonly additionalProperties?: FieldType | boolean;
  readonly items?: FieldType;
  readonly default?: unknown;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: string;
}

/** The names of the keys of a list of objects. A list without keys is atomic. */
export type ListMerge = 'atomic' | 'set' | readonly string[];

const ATOMIC = {};

export function fieldTypeAt(type: FieldType, field: string): FieldType {
  const { properties, additionalProperties } = type;
  if (properties && Object.hasOwn(properties, field)) return properties[field] ?? ATOMIC;
  return typeof additionalProperties === 'object' ? additionalProperties : ATOMIC;
}

export function entryType({ items = ATOMIC }: FieldType): FieldType {
  return items;
}

export function listMergeOf(type: FieldType): ListMerge {
  if (type['x-kubernetes-list-type'] === 'set') return 'set';
  return type['x-kubernetes-list-map-keys'] ?? 'atomic';
}

/** Objects of an unknown type merge field by field, too. */
export function isAtomicMap(type: FieldType): boolean {
  return type['x-kubernetes-map-type'] === 'atomic';
}

export function listByKey(...keys: readonly string[]): FieldType {
  return { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys };
}

export function recordType(properties: Readonly<Record<string, FieldType>>): FieldType {
  return { properties };
}

/** Values that have all their defaults: most writes leave most of an object as it is. */
const complete = new WeakSet<object>();

/** Returns the value itself where no default is missing. */
export function fillDefaults(value: unknown, type: FieldType): unknown {
  if (typeof value !== 'object' || value === null || complete.has(value)) return value;
  const filled = Array.isArray(value) ? filledList(value, type) : filledRecord(value, type);
  complete.add(filled);
  return filled;
}

function filledList(list: readonly unknown[], type: FieldType): readonly unknown[] {
  const filled = list.map((entry) => fillDefaults(entry, entryType(type)));
  return filled.every((entry, index) => entry === list[index]) ? list : filled;
}

function filledRecord(value: object, type: FieldType): object {
  const record = isRecord(value) ? value : {};
  const filled: Record<string, unknown> = {};
  for (const field of new Set([...Object.keys(type.properties ?? {}), ...Object.keys(record)])) {
    const inner = fieldTypeAt(type, field);
    const next = fillDefaults(record[field] === undefined ? inner.default : record[field], inner);
    if (next !== record[field]) filled[field] = next;
  }
  return Object.keys(filled).length > 0 ? { ...record, ...filled } : value;
}
