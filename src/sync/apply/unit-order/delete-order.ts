/**
 * Deletes units in the reverse order of their dependencies: the objects of a unit go when no object of a unit that depends on it is left
 * to delete. Git may have removed these units, so that only the live objects name their dependencies. Pure.
 */
import { objectKey } from '../../../kube/objects/object-id.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { allDependents } from '../../unit-order/cycles.ts';
import { dependenciesOf, type UnitDependencies } from '../../unit-order/dependencies.ts';
import type { ApplyInput } from '../input.ts';
import type { PrunePlan } from '../prune/plan.ts';

type DeleteInput = Pick<ApplyInput, 'live'>;

/** Describes what a unit has left to delete: its first object, and whether all of it waits for finalizers of others. */
interface LeftToDelete {
  readonly first: string;
  readonly keptByOthers: boolean;
}

export function withDeleteOrder(
  prune: readonly PrunePlan[],
  declared: UnitDependencies,
  input: DeleteInput,
): readonly PrunePlan[] {
  const left = leftToDelete(prune, input);
  const dependencies = withLiveDependencies(declared, prune, input);
  if (left.size < 2 || dependencies.size === 0) return prune;
  const dependents = allDependents(dependencies, [...left.keys()]);
  const isAfter = (unit: string, other: string): boolean =>
    // Units that depend on each other, by two commits, are deleted without an order.
    dependents.get(unit)?.has(other) === true && dependents.get(other)?.has(unit) !== true;
  const firstOf = new Map(
    [...left.keys()].map((unit) => [unit, [...left.keys()].find((other) => isAfter(unit, other))]),
  );
  return prune.map((removal) => {
    const { action, entry } = removal;
    const first = firstOf.get(entry.unit);
    const before = first === undefined ? undefined : left.get(first);
    if (!before || (action !== 'delete' && action !== 'mark')) return removal;
    const because = `deleted after ${before.first} of unit ${first}, which depends on unit ${entry.unit}`;
    return { action: 'after', entry, because, ...optional('keptByOthers', before.keptByOthers || undefined) };
  });
}

function leftToDelete(prune: readonly PrunePlan[], input: DeleteInput): ReadonlyMap<string, LeftToDelete> {
  const byUnit = Map.groupBy(
    prune.filter((removal) => isLeft(removal, input)),
    ({ entry }) => entry.unit,
  );
  return new Map(
    [...byUnit].map(([unit, removals]) => {
      const own = removals.find(({ keptByOthers }) => !keptByOthers);
      const [first = own] = own ? [own] : removals;
      return [unit, { first: first ? objectKey(first.entry) : unit, keptByOthers: own === undefined }];
    }),
  );
}

/** An object that was not observed may be deleted already: it is only confirmed. */
function isLeft({ action, entry }: PrunePlan, { live }: DeleteInput): boolean {
  return DELETES.has(action) || (action === 'confirm' && typeof live(entry) === 'object');
}

/** Deletes that wait for a person count: what they depend on must still be there. */
const DELETES: ReadonlySet<PrunePlan['action']> = new Set(['delete', 'mark', 'held', 'paused'] as const);

function withLiveDependencies(
  declared: UnitDependencies,
  prune: readonly PrunePlan[],
  { live }: DeleteInput,
): UnitDependencies {
  const all = new Map([...declared].map(([unit, names]) => [unit, new Set(names)]));
  for (const { entry } of prune) {
    const object = live(entry);
    if (typeof object !== 'object') continue;
    for (const name of dependenciesOf(object, entry.unit)) {
      all.set(entry.unit, (all.get(entry.unit) ?? new Set<string>()).add(name));
    }
  }
  return all;
}
