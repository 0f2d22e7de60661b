/** Checks that the shape of an object is one that nothing which walks or copies it fails on or changes. Pure. */
import { isRecord, valueAt } from './json.ts';

/** The maximum depth. Large CustomResourceDefinitions have about 60 levels; recursion over this many is safe everywhere. */
export const MAX_LEVELS = 200;

export function shapeReason(object: unknown): string | undefined {
  if (isTooDeep(object)) return `nested more than ${MAX_LEVELS} levels deep`;
  return metadataShapeReason(valueAt(object, 'metadata'));
}

/**
 * Returns what is wrong with the shape of the metadata. A spread of a string or a list would turn it into a map: `annotations: a` into
 * `{"0": "a"}`.
 */
function metadataShapeReason(metadata: unknown): string | undefined {
  const namespace = valueAt(metadata, 'namespace');
  if (!isAbsent(namespace) && typeof namespace !== 'string') return 'metadata.namespace: expected a string';
  return ['labels', 'annotations'].map((field) => mapReason(field, valueAt(metadata, field))).find(Boolean);
}

function mapReason(field: string, value: unknown): string | undefined {
  if (isAbsent(value)) return undefined;
  if (!isRecord(value)) return `metadata.${field}: expected a map of strings, got ${typeName(value)}`;
  const [key] = Object.entries(value).find(([, inner]) => typeof inner !== 'string') ?? [];
  return key === undefined
    ? undefined
    : `metadata.${field}[${JSON.stringify(key)}]: expected a string, got ${typeName(value[key])} (quote it)`;
}

/** Tells whether a field is absent. For the API server, null is the same as a missing field. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`.replace('a object', 'a map');
}

/**
 * Tells whether a value is nested too deep. It goes level by level, because recursion over such a value is what fails; and visits each
 * value once, because a program may share one.
 */
function isTooDeep(value: unknown): boolean {
  const visited = new Set<object>();
  let level: unknown[] = [value];
  for (let depth = 0; depth <= MAX_LEVELS; depth += 1) {
    level = level.flatMap((inner): unknown[] => {
      if (typeof inner !== 'object' || inner === null || visited.has(inner)) return [];
      visited.add(inner);
      return Object.values(inner);
    });
    if (level.length === 0) return false;
  }
  return true;
}
