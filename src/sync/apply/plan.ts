/**
 * Decides what sync does in one cluster for one commit: what to write, what to delete, and what has to wait.
 *
 * Pure. What could not be read is unknown, and unknown is never absent: nothing is deleted, and nothing is taken
 * from another hub, on account of it.
 */

import { byCode, digestOf } from '../../kube/objects/digest.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { type ObjectId, objectIdOf, objectKey } from '../../kube/objects/object-id.ts';
import {
  type Acknowledgement,
  type DeleteBudget,
  type DeleteVerdict,
  judgeDeletes,
} from '../judge/deletes.ts';
import { isProtected } from '../protected-kinds.ts';
import type { RenderedObject, RenderedUnit } from '../rendered.ts';
import { driftedFields, matchesDesired, projectionOf } from './drift.ts';
import { entriesOfUnit, type Inventory, type InventoryEntry, unitsOf } from './inventory/inventory.ts';
import { isKeptOnPrune, ownerOf, withOwnerLabels } from './inventory/owner-labels.ts';
import { sortByStep } from './order.ts';
import { inUseReason } from './prunable.ts';

export interface World {
  /** UID of the hub, which owns all that carries it. */
  readonly hub: string;
  readonly commit: string;
  readonly units: readonly RenderedUnit[];
  readonly inventory: Inventory;
  /** What the watch has seen of marked objects; `unknown` where it has not seen enough to say. */
  readonly live: (id: ObjectId) => KubeObject | 'absent' | 'unknown';
  readonly unknownReason: (id: ObjectId) => string;
  /** How the server wrote down what it took from us, where it differs from the words of git (`1000m` and `1`). */
  readonly serverForms: ReadonlyMap<string, ServerForm>;
  readonly budget: DeleteBudget;
  readonly acknowledgements: readonly Acknowledgement[];
}

export interface ServerForm {
  readonly digest: string;
  readonly projection: string;
}

export interface ObjectPlan {
  readonly action: 'create' | 'update' | 'correct' | 'same' | 'wait';
  readonly id: ObjectId;
  readonly unit: string;
  readonly rendered: RenderedObject;
  /** What is sent. */
  readonly object: KubeObject;
  readonly digest: string;
  /** The server confirmed it as ours before. */
  readonly ours: boolean;
  readonly because: string;
}

export interface PrunePlan {
  readonly action: 'mark' | 'delete' | 'release' | 'keep' | 'confirm' | 'held';
  readonly entry: InventoryEntry;
  readonly because: string;
}

export interface TargetPlan {
  /** In the order in which they are written. */
  readonly wanted: readonly ObjectPlan[];
  /** In the order in which they go. */
  readonly left: readonly PrunePlan[];
  readonly holds: readonly (DeleteVerdict & { readonly unit: string })[];
}

export function planTarget(world: World): TargetPlan {
  const wanted = sortByStep(
    world.units.flatMap((unit) => unit.objects.map((rendered) => wantedEntry(world, unit.unit, rendered))),
    ({ id }) => id,
  );
  const kept = new Set(wanted.map(({ id }) => objectKey(id)));
  const units = [...new Set([...unitsOf(world.inventory), ...world.units.map(({ unit }) => unit)])].toSorted(
    byCode,
  );
  const perUnit = units.map((unit) => planUnitDeletes(world, unit, kept));
  return {
    wanted,
    left: sortByStep(
      perUnit.flatMap(({ left }) => left),
      ({ entry }) => entry,
    ).toReversed(),
    holds: perUnit.flatMap(({ unit, verdict }) => (verdict.held ? { unit, ...verdict } : [])),
  };
}

function wantedEntry(world: World, unit: string, rendered: RenderedObject): ObjectPlan {
  const id = objectIdOf(rendered.object);
  const object = withOwnerLabels(rendered, { hub: world.hub, unit, commit: world.commit });
  const digest = digestOfRendered(rendered);
  const ours = world.inventory.entries.get(objectKey(id))?.applied !== undefined;
  return { id, unit, rendered, object, digest, ours, ...actionFor(world, { id, unit, object, digest }) };
}

/** Passes are many, renders few: each is digested once. */
const digests = new WeakMap<RenderedObject, string>();

function digestOfRendered(rendered: RenderedObject): string {
  const known = digests.get(rendered) ?? digestOf(rendered.object);
  digests.set(rendered, known);
  return known;
}

type Draft = Pick<ObjectPlan, 'id' | 'unit' | 'object' | 'digest'>;
type Action = Pick<ObjectPlan, 'action' | 'because'>;

function actionFor(world: World, draft: Draft): Action {
  const live = world.live(draft.id);
  const entry = world.inventory.entries.get(objectKey(draft.id));
  if (live === 'unknown') return wait(world.unknownReason(draft.id));
  if (live === 'absent') {
    return write('create', entry?.applied ? 'it is gone, or its marks are' : 'new in git');
  }
  return (
    obstacle(world, draft, live, entry) ?? newsFromGit(draft, entry) ?? newsFromCluster(world, draft, live)
  );
}

function obstacle(
  { hub }: World,
  { unit }: Draft,
  live: KubeObject,
  entry: InventoryEntry | undefined,
): Action | undefined {
  const owner = ownerOf(live, { hub, unit });
  if (owner === 'other-hub') return wait('another hub owns it: label kubenode.dev/hub');
  // Ours, and in no inventory of ours: another Pipeline declares it too. Of two, the first one has it.
  if (owner === 'other-unit' && !entry) return wait('another Pipeline owns it: label kubenode.dev/unit');
  return live.metadata.deletionTimestamp ? wait(terminating(live)) : undefined;
}

function newsFromGit({ unit, digest }: Draft, entry: InventoryEntry | undefined): Action | undefined {
  if (!entry?.applied) return write('update', 'not confirmed yet');
  if (entry.unit !== unit) return write('update', `moved from unit ${entry.unit}`);
  return entry.applied === digest ? undefined : write('update', 'changed in git');
}

function newsFromCluster(world: World, { id, unit, object, digest }: Draft, live: KubeObject): Action {
  if (sameAsBefore(live, `${unit} ${digest}`, () => matchesDesired(object, live))) {
    return { action: 'same', because: 'as in git' };
  }
  const serverForm = world.serverForms.get(objectKey(id));
  if (serverForm?.digest === digest && serverForm.projection === projectionOf(object, live)) {
    return { action: 'same', because: 'as in git, in the words of the server' };
  }
  return write('correct', `changed in the cluster: ${driftedFields(object, live).join(', ')}`);
}

/** What is seen is never changed in place, so one comparison is enough for as long as it is the same object. */
const compared = new WeakMap<KubeObject, { readonly with: string; readonly same: boolean }>();

function sameAsBefore(live: KubeObject, key: string, compare: () => boolean): boolean {
  const before = compared.get(live);
  if (before?.with === key) return before.same;
  const same = compare();
  compared.set(live, { with: key, same });
  return same;
}

function wait(because: string): Action {
  return { action: 'wait', because };
}

function write(action: 'create' | 'update' | 'correct', because: string): Action {
  return { action, because };
}

function planUnitDeletes(
  world: World,
  unit: string,
  kept: ReadonlySet<string>,
): { unit: string; left: PrunePlan[]; verdict: DeleteVerdict } {
  const present = entriesOfUnit(world.inventory, unit);
  const left = present.filter((entry) => !kept.has(objectKey(entry))).map((entry) => leftEntry(world, entry));
  // A unit whose objects all moved to other units deletes nothing, so nothing of it can be held.
  const wanted = world.units.find((rendered) => rendered.unit === unit)?.objects.length ?? 0;
  const deletes = left
    .filter(({ action }) => action === 'delete' || action === 'mark')
    .map(({ entry }) => entry);
  const verdict = judgeDeletes(
    { unit, present: present.length, wanted, deletes },
    world.budget,
    world.acknowledgements,
  );
  return { unit, verdict, left: verdict.held ? left.map((item) => hold(item, verdict)) : left };
}

function leftEntry(world: World, entry: InventoryEntry): PrunePlan {
  const live = world.live(entry);
  if (live === 'unknown') {
    return { action: 'keep', entry, because: world.unknownReason(entry) };
  }
  // The watch sees marked objects only: without a mark it may still be there, so the shell asks for it by name.
  if (live === 'absent') return { action: 'confirm', entry, because: 'left git, and is not seen any more' };
  return { entry, ...(reasonToSpare(world, entry, live) ?? goes(entry)) };
}

type Fate = Pick<PrunePlan, 'action' | 'because'>;

function reasonToSpare({ hub }: World, entry: InventoryEntry, live: KubeObject): Fate | undefined {
  const owner = ownerOf(live, { ...entry, hub });
  if (owner !== 'ours') {
    return { action: 'release', because: `left git, and belongs to somebody else: ${owner}` };
  }
  if (isKeptOnPrune(live)) {
    return { action: 'release', because: 'left git, marked kubenode.dev/prune: Never' };
  }
  if (live.metadata.deletionTimestamp) return { action: 'confirm', because: terminating(live) };
  const use = inUseReason(live);
  return use ? { action: 'keep', because: use } : undefined;
}

function goes(entry: InventoryEntry): Fate {
  if (!isProtected(entry) || entry.markedAt) return { action: 'delete', because: 'left git' };
  return { action: 'mark', because: 'left git; protected, so marked first' };
}

function hold(item: PrunePlan, { because, planDigest }: DeleteVerdict): PrunePlan {
  if (item.action !== 'delete' && item.action !== 'mark') return item;
  return { action: 'held', entry: item.entry, because: `${because}; plan ${planDigest}` };
}

function terminating({ metadata }: KubeObject): string {
  const blockers = metadata.finalizers?.length ? `, finalizers ${metadata.finalizers.join(', ')}` : '';
  return `being deleted since ${metadata.deletionTimestamp ?? 'now'}${blockers}`;
}
