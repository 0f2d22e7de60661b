/**
 * The API server takes a null for a field that is not there, wherever a field or a value of a map stands; in a list
 * a null is an entry of the wrong type.
 */
export function withoutNulls<T>(value: T): T {
  return (Array.isArray(value) ? inList(value) : inFields(value)) as T;
}

/** What holds no null comes back as it is, so that nothing is copied for the usual object. */
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
