/** Makes objects smaller before they are kept: fields that nobody reads go, equal strings become one. */
import type { KubeObject, ManagedFields } from '../objects/object.ts';

export type Transform<T extends KubeObject> = (object: KubeObject) => T;

// V8 shares strings of up to 10 characters itself while it parses. Long ones are rarely equal.
const SHORTEST = 11;
const LONGEST = 256;
// Names, UIDs and times never come twice and would fill the pool for ever. Emptied now and then, it costs one copy of
// each common string for each round, and holds at most a few MB.
const POOL_SIZE = 20_000;

/**
 * Drops the fields at these paths, such as 'status.images', and the managedFields of all but these managers' applies. The
 * object must be fresh from the parser: it is changed in place, before anybody else sees it.
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

/** An empty list says that these managers own nothing; no list would say that nothing is known. */
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
    if (text.length < SHORTEST || text.length > LONGEST) return text;
    const known = pool.get(text);
    if (known !== undefined) return known;
    if (pool.size >= POOL_SIZE) pool.clear();
    pool.set(text, text);
    return text;
  };
}

/** Objects and arrays alike. */
function isBranch(value: unknown): value is Branch {
  return typeof value === 'object' && value !== null;
}
