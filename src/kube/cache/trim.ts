/** Makes objects smaller before they are cached: drops unused fields and shares equal strings. */
import type { KubeObject, ManagedFields } from '../objects/object.ts';

export type Transform<T extends KubeObject> = (object: KubeObject) => T;

// V8 itself shares strings of up to 10 characters while parsing. Long ones are rarely equal.
const MIN_LENGTH = 11;
const MAX_LENGTH = 256;
// Names, UIDs and times are unique and would fill the pool without limit. Clearing it at this size costs one more copy
// of each common string and limits it to a few MB.
const POOL_SIZE = 20_000;

/**
 * Drops the fields at these paths, such as 'status.images', and all managedFields except the applies of these managers. The
 * object must not be shared yet, because it is changed in place.
 */
export function createTransform<T extends KubeObject = KubeObject>(
  drop: readonly string[] = [],
  managers: readonly string[] = [],
): Transform<T> {
  const paths = (managers.length > 0 ? drop : ['metadata.managedFields', ...drop]).map((path) =>
    path.split('.'),
  );
  const pool = stringPool();
  return (object) => {
    if (managers.length > 0) keepManagers(object.metadata, managers);
    for (const path of paths) dropAt(object, path);
    shareStrings(object, pool);
    return object as T;
  };
}

/** An empty list means that these managers own nothing; a missing list would mean that it is unknown. */
function keepManagers(
  metadata: { managedFields?: readonly ManagedFields[] },
  managers: readonly string[],
): void {
  metadata.managedFields = (metadata.managedFields ?? []).filter(
    ({ manager, operation }) => operation === 'Apply' && managers.includes(manager),
  );
}

type Branch = Record<string | number, unknown>;

function dropAt(value: unknown, [field = '', ...rest]: readonly string[]): void {
  if (!isBranch(value)) return;
  if (rest.length > 0) dropAt(value[field], rest);
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
