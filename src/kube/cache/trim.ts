/** Makes objects smaller before they are cached: drops unused fields and shares equal strings. */
import { valueAt } from '../objects/json.ts';
import type { KubeObject, ManagedFields } from '../objects/object.ts';

export type Transform<T extends KubeObject> = (object: KubeObject) => T;

// V8 itself shares strings of up to 10 characters while parsing. Long ones are rarely equal.
const MIN_LENGTH = 11;
const MAX_LENGTH = 256;
// Names, UIDs and times are unique and would fill the pool without limit. Clearing it at this size costs one more copy
// of each common string and limits it to a few MB.
const POOL_SIZE = 20_000;

/**
 * Drops the fields at these paths, such as 'status.images' or 'spec.containers.*.env' of each item, and all managedFields except the
 * applies of these managers and, of everybody, what is owned below the path `owned`. The object must not be shared yet, because it is changed in place.
 */
export function createTransform<T extends KubeObject = KubeObject>(
  drop: readonly string[] = [],
  managers: readonly string[] = [],
  owned: readonly string[] = [],
): Transform<T> {
  const paths = (managers.length > 0 ? drop : ['metadata.managedFields', ...drop]).map((path) =>
    path.split('.'),
  );
  const pool = stringPool();
  return (object) => {
    if (managers.length > 0) keepManagers(object.metadata, managers, owned);
    for (const path of paths) dropAt(object, path);
    shareStrings(object, pool);
    return object as T;
  };
}

/** An empty list means that these managers own nothing; a missing list would mean that it is unknown. */
function keepManagers(
  metadata: { managedFields?: readonly ManagedFields[] },
  managers: readonly string[],
  owned: readonly string[],
): void {
  metadata.managedFields = (metadata.managedFields ?? []).flatMap((entry) => {
    if (entry.operation === 'Apply' && managers.includes(entry.manager)) return [entry];
    const fields = owned.length > 0 ? valueAt(entry.fieldsV1, ...owned) : undefined;
    return fields === undefined ? [] : [{ ...entry, fieldsV1: nested(owned, fields) }];
  });
}

function nested(path: readonly string[], fields: unknown): unknown {
  return path.toReversed().reduce((inner, step) => ({ [step]: inner }), fields);
}

type Branch = Record<string | number, unknown>;

function dropAt(value: unknown, [field = '', ...rest]: readonly string[]): void {
  if (!isBranch(value)) return;
  if (field === '*') for (const item of Object.values(value)) dropAt(item, rest);
  else if (rest.length > 0) dropAt(value[field], rest);
  else delete value[field];
}

function shareStrings(branch: unknown, pool: (text: string) => string): void {
  if (!isBranch(branch)) return;
  for (const field in branch) {
    const value = branch[field];
    if (typeof value === 'string') branch[field] = pool(value);
    else shareStrings(value, pool);
  }
}

function stringPool(): (text: string) => string {
  const pool = new Map<string, string>();
  return (text) => {
    if (text.length < MIN_LENGTH || text.length > MAX_LENGTH) return text;
    const known = pool.get(text);
    if (known !== undefined) return known;
    if (pool.size >= POOL_SIZE) pool.clear();
    pool.set(text, text);
    return text;
  };
}

/** True for objects and arrays. */
function isBranch(value: unknown): value is Branch {
  return typeof value === 'object' && value !== null;
}
