/** Counts what a commit removes, without blocking the timers of Leases. */
import { setImmediate } from 'node:timers/promises';
import { objectIdOf, objectKey } from '../../kube/objects/object-id.ts';
import type { Rendered, RenderedUnit } from '../rendered.ts';

/** Some 5 ms: a key takes about 1 µs. */
const SLICE = 5000;

/** Objects that the second commit no longer declares, in targets of both commits. */
export async function countDeletes(before: Rendered, after: Rendered): Promise<number> {
  const targets = new Map(after.targets.map(({ target, units }) => [target, units]));
  let deletes = 0;
  for (const { target, units } of before.targets) {
    const kept = targets.get(target);
    if (!kept) continue;
    const keys = await keysOf(kept);
    for (const key of await keysOf(changedUnits(units, kept))) if (!keys.has(key)) deletes += 1;
  }
  return deletes;
}

/** All objects of a unit with the same content are kept. */
function changedUnits(before: readonly RenderedUnit[], after: readonly RenderedUnit[]): RenderedUnit[] {
  const same = new Set(after.map(({ unit, digest }) => `${unit} ${digest}`));
  return before.filter(({ unit, digest }) => !same.has(`${unit} ${digest}`));
}

async function keysOf(units: readonly RenderedUnit[]): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  for (const [index, { object }] of units.flatMap(({ objects }) => objects).entries()) {
    if (index % SLICE === SLICE - 1) await setImmediate();
    keys.add(objectKey(objectIdOf(object)));
  }
  return keys;
}
