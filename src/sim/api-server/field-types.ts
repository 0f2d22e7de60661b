/** Tells how the API server merges a field: by the marks in the schema of its kind. Pure. */

/** As much of an OpenAPI schema as decides that. */
export interface FieldType {
  readonly properties?: Readonly<Record<string, FieldType>>;
  readonly additionalProperties?: FieldType | boolean;
  readonly items?: FieldType;
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

export function recordOf(properties: Readonly<Record<string, FieldType>>): FieldType {
  return { properties };
}
