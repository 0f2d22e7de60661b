/** The defaults that the API server fills in, from the CRDs, for tests without one. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { isRecord, listAt, valueAt } from '../../src/kube/objects/json.ts';

/** A copy of the object with the defaults of its `spec`. */
export function withCrdDefaults<T extends { readonly spec: object }>(plural: string, object: T): T {
  const [version] = listAt(readCrd(plural), 'spec', 'versions');
  const schema = valueAt(version, 'schema', 'openAPIV3Schema', 'properties', 'spec');
  return { ...object, spec: filled(schema, object.spec) as T['spec'] };
}

/** Parsing one takes longer than most tests, which need the defaults of some objects each. */
const parsed = new Map<string, unknown>();

export function readCrd(plural: string): unknown {
  const crd: unknown =
    parsed.get(plural) ?? parse(readFileSync(new URL(`../../crds/${plural}.yaml`, import.meta.url), 'utf8'));
  parsed.set(plural, crd);
  return crd;
}

function filled(schema: unknown, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((entry) => filled(valueAt(schema, 'items'), entry));
  const properties = valueAt(schema, 'properties');
  if (!isRecord(value) || !isRecord(properties)) return value;
  const defaults = Object.entries(properties).flatMap(([field, inner]) => {
    const present = value[field] ?? structuredClone(valueAt(inner, 'default'));
    return present === undefined ? [] : [[field, filled(inner, present)] as const];
  });
  return { ...value, ...Object.fromEntries(defaults) };
}
