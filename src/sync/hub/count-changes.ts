/** Counts what a commit changes, without blocking the timers of Leases. */
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../kube/objects/object.ts';
import { objectIdOf, objectKey } from '../../kube/objects/object-id.ts';
import type { ObjectCounts } from '../commits.ts';
import type { Rendered, RenderedTarget, RenderedUnit } from '../rendered.ts';

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

/** Against what a cluster has; undefined if it has nothing of it. */
export async function countChanges(
  before: RenderedTarget | undefined,
  after: RenderedTarget,
): Promise<ObjectCounts> {
  const [old, present] = [before?.units ?? [], after.units];
  const [removed, written] = await Promise.all([
    objectsByKey(changedUnits(old, present)),
    objectsByKey(changedUnits(present, old)),
  ]);
  const oldKeys = await keysOf(old);
  const presentKeys = await keysOf(present);
  let updates = 0;
  for (const [index, [key, object]] of [...written].entries()) {
    if (index % SLICE === SLICE - 1) await setImmediate();
    const was = removed.get(key);
    if (was && !isDeepStrictEqual(was, object)) updates += 1;
  }
  const creates = [...written.keys()].filter((key) => !oldKeys.has(key)).length;
  const deletes = [...removed.keys()].filter((key) => !presentKeys.has(key)).length;
  return { creates, updates, deletes };
}

/** All objects of a unit with the same content are kept. */
function changedUnits(before: readonly RenderedUnit[], after: readonly RenderedUnit[]): RenderedUnit[] {
  const same = new Set(after.map(({ unit, digest }) => `${unit} ${digest}`));
  return before.filter(({ unit, digest }) => !same.has(`${unit} ${digest}`));
}

async function keysOf(units: readonly RenderedUnit[]): Promise<ReadonlySet<string>> {
  return new Set((await objectsByKey(units)).keys());
}

async function objectsByKey(units: readonly RenderedUnit[]): Promise<ReadonlyMap<string, KubeObject>> {
  const found = new Map<string, KubeObject>();
  for (const [index, { object }] of units.flatMap(({ objects }) => objects).entries()) {
    if (index % SLICE === SLICE - 1) await setImmediate();
    found.set(objectKey(objectIdOf(object)), object);
  }
  return found;
}
