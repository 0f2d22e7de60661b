/**
 * Plans what sync does in one cluster for one commit: what it writes, what it deletes and what has to wait.
 *
 * Pure. An object that cannot be read is unknown, never absent: it is not deleted, and no other hub's object is taken over.
 */
import type { Blocker } from '../../api/generated/types.ts';
import { LABEL_HUB, LABEL_UNIT } from '../../api/names.ts';
import {
  type IdentityReason,
  NOT_DECRYPTED,
  type PausedReason,
  type UNIT_NOT_READY,
} from '../../api/status/sync-words.ts';
import { byCode, digestOf } from '../../kube/objects/digest.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { type ObjectId, objectIdOf, objectKey } from '../../kube/objects/object-id.ts';
import { optional } from '../../kube/objects/optional.ts';
import { isSopsEncrypted } from '../../kube/sops/leaves.ts';
import type { DeleteVerdict } from '../judge/delete-budget.ts';
import type { RenderedObject } from '../rendered.ts';
import { comparedBefore, driftedFields, matchedBefore, matchesDesired, projectionOf } from './drift.ts';
import type { ApplyInput } from './input.ts';
import { type InventoryEntry, inventoryUnits } from './inventory/inventory.ts';
import { adopts, isAdopted, isOfOtherPipeline, ownerOf, withOwnerLabels } from './inventory/owner-labels.ts';
import { sortByStep } from './order.ts';
import { ignoredPaths, withoutIgnored } from './ownership/ignored-fields.ts';
import { type PrunePlan, planUnitPrune } from './prune/plan.ts';
import { declaredAgainReason } from './prune/terminating.ts';

/** Describes what is done with one object that git declares. */
export interface ObjectPlan {
  readonly action: 'create' | 'update' | 'correct' | 'same' | 'wait' | 'paused';
  readonly id: ObjectId;
  readonly unit: string;
  readonly rendered: RenderedObject;
  /** The object to compare and to send. It has no ignored fields if the object exists. */
  readonly object: KubeObject;
  /** The object to create, with git's values of all fields. */
  readonly declared: KubeObject;
  /** The paths of the ignored fields. */
  readonly ignored: readonly string[];
  /** Field managers whose fields git takes over when they conflict. */
  readonly forceManagers: readonly string[];
  readonly digest: string;
  /** The entry that the inventory lists for the object. */
  readonly entry?: InventoryEntry;
  /** The UID of the live object, if the server confirmed it as ours: only that one is written. Without it, only a creation is sent. */
  readonly uid?: string;
  /** Conflicts with other field managers are decided for git: our earlier apply owned all these fields, or git adopts them. */
  readonly force: boolean;
  readonly because: string;
  /** The live object, if it is corrected. */
  readonly drifted?: KubeObject;
  /** The reason, if the action is `paused`. */
  readonly pausedBy?: PausedReason;
  /** The reason, if the action is `wait`, and the object waits for a key, for a right of its unit, or for another unit. */
  readonly waitReason?: typeof NOT_DECRYPTED | typeof UNIT_NOT_READY | IdentityReason;
}

/** Counts what is not written in a paused unit, or of a paused object. */
export interface PausedPart {
  /** `unit web` or `object Deployment/shop/web`. */
  readonly name: string;
  readonly reason: PausedReason;
  /** How to resume it, who paused it, since when and why. */
  readonly because: string;
  /** Objects that differ from git. */
  readonly differing: number;
  /** Objects that git does not declare any more. */
  readonly removed: number;
}

/** A unit with changes that wait for another unit. */
export interface WaitingUnit {
  readonly unit: string;
  /** The unit that it waits for. */
  readonly dependency: string;
  readonly because: string;
  readonly blocker?: Blocker;
  /** A person paused what it waits for, directly or through other units. */
  readonly pausedBy?: PausedReason;
}

export interface TargetPlan {
  /** The objects that git declares, in the order of writing. */
  readonly objects: readonly ObjectPlan[];
  /** The objects to prune, in the order of deleting. */
  readonly prune: readonly PrunePlan[];
  readonly holds: readonly (DeleteVerdict & { readonly unit: string })[];
  /** Paused parts with something to write or to delete. */
  readonly paused?: readonly PausedPart[];
  /** The units with changes that wait for a unit that they depend on. */
  readonly waitingUnits?: readonly WaitingUnit[];
  /** The paused objects that neither git nor the inventory lists. */
  readonly unmatchedPauses?: readonly string[];
}

/** Tells whether the object is sent. */
export function isWrite({ action }: Pick<ObjectPlan, 'action'>): boolean {
  return action === 'create' || action === 'update' || action === 'correct';
}

export function planTarget(input: ApplyInput): TargetPlan {
  const objects = sortByStep(
    input.units.flatMap(({ unit, objects: declared }) =>
      declared.map((rendered) => planObject(input, unit, rendered)),
    ),
    ({ id }) => id,
  );
  const declared = new Set(objects.map(({ id }) => objectKey(id)));
  const names = [...inventoryUnits(input.inventory), ...input.units.map(({ unit }) => unit)];
  const units = [...new Set(names)].toSorted(byCode);
  const perUnit = units.map((unit) => planUnitPrune(input, unit, declared));
  return {
    objects,
    prune: sortByStep(
      perUnit.flatMap(({ prune }) => prune),
      ({ entry }) => entry,
    ).toReversed(),
    holds: perUnit.flatMap(({ unit, verdict }) => (verdict.held ? { unit, ...verdict } : [])),
  };
}

function planObject(input: ApplyInput, unit: string, rendered: RenderedObject): ObjectPlan {
  const id = objectIdOf(rendered.object);
  const entry = input.inventory.entries.get(objectKey(id));
  const live = input.live(id);
  const adopted = typeof live === 'object' && (entry?.adopted === true || isAdopted(live));
  const { declared: rendersTo, problem } = declaredObject(input, rendered);
  const owner = { hub: input.hub, unit, commit: input.commit, adopted };
  const declared = withOwnerLabels({ ...rendered, object: rendersTo }, owner);
  const { forceManagers = [] } = input;
  const ignored = ignoredIn(input, unit, id);
  const object = comparedObject(declared, live, ignored);
  const digest = digestOfRendered(rendered);
  const uid = confirmedUid(entry, live);
  return {
    id,
    unit,
    rendered,
    object,
    declared,
    ignored,
    forceManagers,
    digest,
    force: entry?.applied === digest || adopts(rendered.object),
    ...optional('entry', entry),
    ...optional('uid', uid),
    // Without its values, it is neither written nor known to match.
    ...(problem === undefined
      ? actionFor(input, { id, unit, object, ignored, digest })
      : { ...wait(problem), waitReason: NOT_DECRYPTED }),
  };
}

function ignoredIn(
  { fieldPolicies = [] }: Pick<ApplyInput, 'fieldPolicies'>,
  unit: string,
  { kind }: ObjectId,
): readonly string[] {
  return ignoredPaths(fieldPolicies, { unit, kind });
}

/** An object that does not exist is created with all fields. */
function comparedObject(
  declared: KubeObject,
  live: ReturnType<ApplyInput['live']>,
  ignored: readonly string[],
): KubeObject {
  return typeof live === 'object' ? withoutIgnored(declared, ignored) : declared;
}

/** Returns the object with its values. It stays encrypted if they are not needed, or cannot be decrypted. */
function declaredObject(
  { decrypted }: ApplyInput,
  rendered: RenderedObject,
): { readonly declared: KubeObject; readonly problem?: string } {
  const found = decrypted?.get(rendered) ?? rendered;
  return 'object' in found ? { declared: found.object } : { declared: rendered.object, ...found };
}

/**
 * Lists the objects whose values a plan needs: those that SOPS encrypted, and that are not known to match what the server has. In a cluster
 * without a change nothing is decrypted.
 */
export function objectsToDecrypt(input: DecryptionInput): RenderedObject[] {
  const { units, live, inventory } = input;
  return units.flatMap(({ unit, objects }) =>
    objects.filter((rendered) => {
      if (!isSopsEncrypted(rendered.object)) return false;
      const id = objectIdOf(rendered.object);
      const [digest, found, entry] = [
        digestOfRendered(rendered),
        live(id),
        inventory.entries.get(objectKey(id)),
      ];
      const isKnown = typeof found === 'object' && entry?.applied === digest && entry.unit === unit;
      return !(isKnown && matchedBefore(found, { unit, digest, ignored: ignoredIn(input, unit, id) }));
    }),
  );
}

type DecryptionInput = Pick<ApplyInput, 'units' | 'live' | 'inventory' | 'fieldPolicies'>;

function confirmedUid(
  entry: InventoryEntry | undefined,
  live: ReturnType<ApplyInput['live']>,
): string | undefined {
  if (entry?.applied === undefined || typeof live !== 'object') return undefined;
  return live.metadata.uid === entry.uid ? entry.uid : undefined;
}

/** Reconciles are frequent and renders are rare: each rendered object is hashed once. */
const digests = new WeakMap<RenderedObject, string>();

function digestOfRendered(rendered: RenderedObject): string {
  const known = digests.get(rendered) ?? digestOf(rendered.object);
  digests.set(rendered, known);
  return known;
}

/** It matched when the objects to decrypt were chosen, so its values are not here. */
const DELETED_MEANWHILE = 'it was deleted while other objects were decrypted: the next reconcile creates it';

type Draft = Pick<ObjectPlan, 'id' | 'unit' | 'object' | 'ignored' | 'digest'>;
type Action = Pick<ObjectPlan, 'action' | 'because' | 'drifted'>;

function actionFor(input: ApplyInput, draft: Draft): Action {
  const live = input.live(draft.id);
  const entry = input.inventory.entries.get(objectKey(draft.id));
  if (live === 'unknown') return wait(input.unknownReason(draft.id));
  if (live === 'absent') return createMissing(input, draft, entry);
  return (
    waitForOthers(input, draft, live, entry) ??
    changeFromGit(draft, entry) ??
    changeFromCluster(input, draft, live)
  );
}

function createMissing(
  { decrypted }: ApplyInput,
  { object }: Draft,
  entry: InventoryEntry | undefined,
): Action {
  if (decrypted && isSopsEncrypted(object)) return wait(DELETED_MEANWHILE);
  return write('create', entry?.applied ? 'not found, or without its owner labels' : 'new in git');
}

function waitForOthers(
  { hub }: ApplyInput,
  { unit }: Draft,
  live: KubeObject,
  entry: InventoryEntry | undefined,
): Action | undefined {
  const owner = ownerOf(live, { hub, unit });
  if (owner === 'other-hub') return wait(`another hub owns it: label ${LABEL_HUB}`);
  // Another Pipeline declares it too: the first one keeps it.
  if (isOfOtherPipeline(owner, entry)) return wait(`another Pipeline owns it: label ${LABEL_UNIT}`);
  return live.metadata.deletionTimestamp ? wait(declaredAgainReason(live)) : undefined;
}

function changeFromGit({ unit, digest }: Draft, entry: InventoryEntry | undefined): Action | undefined {
  if (!entry?.applied) return write('update', 'not confirmed yet');
  if (entry.unit !== unit) return write('update', `moved from unit ${entry.unit}`);
  return entry.applied === digest ? undefined : write('update', 'changed in git');
}

function changeFromCluster(input: ApplyInput, draft: Draft, live: KubeObject): Action {
  const { id, unit, object, ignored, digest } = draft;
  const content = { unit, digest, ignored };
  if (isSopsEncrypted(object) && !matchedBefore(live, content)) {
    return { action: 'same', because: 'the same as last applied; its encrypted values are not compared' };
  }
  if (comparedBefore(live, content, () => matchesDesired(object, live))) {
    return { action: 'same', because: 'matches git' };
  }
  const serverForm = input.serverForms.get(objectKey(id));
  if (serverForm?.digest === digest && serverForm.projection === projectionOf(object, live)) {
    return { action: 'same', because: 'matches git after server-side normalization' };
  }
  const because = `changed in the cluster: ${driftedFields(object, live).join(', ')}`;
  return { ...write('correct', because), drifted: live };
}

function wait(because: string): Action {
  return { action: 'wait', because };
}

function write(action: 'create' | 'update' | 'correct', because: string): Action {
  return { action, because };
}
