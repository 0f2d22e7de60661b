/**
 * The API server treats null as absent in fields and in values of maps. In a list
 * null is an entry of the wrong type.
 */
export function withoutNulls<T>(value: T): T {
  return (Array.isArray(value) ? inList(value) : inFields(value)) as T;
}

/** Returns an object without nulls unchanged, so that nothing is copied in the usual case. */
function inList(list: readonly unknown[]): readonly unknown[] {
  const entries = list.map((entry) => withoutNulls(entry));
  return entries.some((entry, index) => entry !== list[index]) ? entries : list;
}

function inFields(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const before = Object.entries(value);
  const after = before.flatMap(([key, field]) =>
    field === null ? [] : [[key, withoutNulls(field as unknown)] as const],
  );
  const same =
    after.length === before.length && after.every(([, field], index) => field === before[index]?.[1]);
  return same ? value : Object.fromEntries(after);
}
