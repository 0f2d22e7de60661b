/** Finds units that depend on each other, and the units that depend on a unit through others. Pure. */
import type { UnitDependencies } from './dependencies.ts';

/**
 * Returns one cycle of each group of units that depend on each other, without the first unit at its end. It walks without
 * recursion: a chain may be as long as there are units.
 */
export function findCycles(dependencies: UnitDependencies): readonly (readonly string[])[] {
  const left = unorderedUnits(dependencies);
  const cycles: (readonly string[])[] = [];
  const visited = new Set<string>();
  for (const start of left) {
    const path: string[] = [];
    let unit: string | undefined = start;
    while (unit !== undefined && !visited.has(unit)) {
      visited.add(unit);
      path.push(unit);
      unit = [...(dependencies.get(unit) ?? [])].find((name) => left.has(name));
    }
    const first = unit === undefined ? -1 : path.indexOf(unit);
    if (first >= 0) cycles.push(path.slice(first));
  }
  return cycles;
}

/** Returns the units that are in a cycle or depend on one: those that are left when every unit with ordered dependencies is taken away. */
function unorderedUnits(dependencies: UnitDependencies): ReadonlySet<string> {
  const dependents = dependentsByUnit(dependencies);
  const open = new Map([...dependencies].map(([unit, names]) => [unit, names.size]));
  const ready = [...dependents.keys()].filter((unit) => !open.has(unit));
  for (let unit = ready.pop(); unit !== undefined; unit = ready.pop()) {
    for (const dependent of dependents.get(unit) ?? []) {
      const count = (open.get(dependent) ?? 0) - 1;
      open.set(dependent, count);
      if (count > 0) continue;
      open.delete(dependent);
      ready.push(dependent);
    }
  }
  return new Set(open.keys());
}

function dependentsByUnit(dependencies: UnitDependencies): ReadonlyMap<string, readonly string[]> {
  const dependents = new Map<string, string[]>();
  for (const [unit, names] of dependencies) {
    for (const name of names) {
      const known = dependents.get(name) ?? [];
      known.push(unit);
      dependents.set(name, known);
    }
  }
  return dependents;
}

/** Returns the units that depend on each unit, directly or through others. In a cycle every unit is among its own. */
export function allDependents(
  dependencies: UnitDependencies,
  units: readonly string[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const direct = dependentsByUnit(dependencies);
  return new Map(units.map((unit) => [unit, reachableFrom(unit, direct)]));
}

function reachableFrom(start: string, direct: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const found = new Set<string>();
  const queue = [...(direct.get(start) ?? [])];
  for (let unit = queue.pop(); unit !== undefined; unit = queue.pop()) {
    if (found.has(unit)) continue;
    found.add(unit);
    for (const dependent of direct.get(unit) ?? []) queue.push(dependent);
  }
  return found;
}
