/** Refuses entries of one machine that write the same thing: they would correct each other for ever, so none of them is installed. Pure. */
import type { DesiredComponent } from '../component/input.ts';
import { linksOf } from '../component/placements.ts';
import type { Target } from '../target/target.ts';

type Desired = ReadonlyMap<string, DesiredComponent>;

/**
 * Marks the entries that conflict as invalid. What other components have already is enforced as before: an entry that is refused changes
 * nothing.
 */
export function refuseConflicts(desired: Desired): Desired {
  const owners = ownersOf(desired);
  return new Map([...desired].map(([name, each]) => [name, checked(name, each, owners)]));
}

function checked(
  name: string,
  desired: DesiredComponent,
  owners: ReadonlyMap<string, readonly string[]>,
): DesiredComponent {
  if (desired.state !== 'Present') return desired;
  for (const thing of placedBy(desired.target)) {
    const other = owners.get(thing)?.find((each) => each !== name);
    if (other !== undefined) return { state: 'Invalid', message: conflictText(thing, other) };
  }
  return desired;
}

function conflictText(thing: string, other: string): string {
  const field = thing.startsWith('/') ? 'path' : 'name of the unit';
  return `${thing} is also written by ${other}: change the ${field} in one of the two components`;
}

function ownersOf(desired: Desired): ReadonlyMap<string, readonly string[]> {
  const owners = new Map<string, readonly string[]>();
  for (const [name, each] of desired) {
    if (each.state !== 'Present') continue;
    for (const thing of placedBy(each.target)) owners.set(thing, [...(owners.get(thing) ?? []), name]);
  }
  return owners;
}

/** Returns what a target places on the host alone. Keys of a file may belong to several components. Its block cannot: there is one. */
function placedBy(target: Target): readonly string[] {
  const files = target.files.filter(({ merge }) => merge === 'Replace' || merge === 'Block');
  return [
    ...files.map(({ path }) => path),
    ...linksOf(target).map(({ path }) => path),
    ...target.units.map(({ name }) => `unit ${name}`),
  ];
}
