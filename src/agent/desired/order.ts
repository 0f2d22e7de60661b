/** Decides in which order the components of a machine are reconciled. Pure. */
import { byCode } from '../../kube/objects/digest.ts';

/**
 * Returns the components in order: those that others depend on come first; without dependencies, they are ordered by name. A circle is cut
 * where it closes: its components then wait for each other, and report that.
 */
export function orderComponents(dependencies: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const ordered = new Set<string>();
  function visit(name: string, path: readonly string[]): void {
    if (ordered.has(name) || path.includes(name)) return;
    for (const each of (dependencies.get(name) ?? []).toSorted(byCode)) {
      if (dependencies.has(each)) visit(each, [...path, name]);
    }
    ordered.add(name);
  }
  for (const name of [...dependencies.keys()].toSorted(byCode)) visit(name, []);
  return [...ordered];
}
