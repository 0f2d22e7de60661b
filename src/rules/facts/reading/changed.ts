/** Compares parts of two states of an object. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { listAt, textAt, valueAt } from '../../../kube/objects/json.ts';

export function isChanged(before: unknown, after: unknown, ...path: readonly string[]): boolean {
  return !isDeepStrictEqual(valueAt(before, ...path), valueAt(after, ...path));
}

/** Returns the names of the entries of a list that are new, missing or different. `key` is the field that names an entry. */
export function changedEntries(
  key: string,
  before: unknown,
  after: unknown,
  path: readonly string[],
): readonly string[] {
  if (valueAt(before, ...path) === valueAt(after, ...path)) return [];
  const last = entriesByName(listAt(before, ...path), key);
  const next = entriesByName(listAt(after, ...path), key);
  const names = new Set([...last.keys(), ...next.keys()]);
  return [...names].filter((name) => !isDeepStrictEqual(last.get(name), next.get(name)));
}

function entriesByName(entries: readonly unknown[], key: string): ReadonlyMap<string, unknown> {
  return new Map(entries.map((entry) => [textAt(entry, key) ?? '', entry]));
}
