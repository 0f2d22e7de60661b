/**
 * Decides what happens to an object of which sync does not know that it is ours: it exists although sync expected to
 * create it. What another client created is not overwritten, unless git adopts it, and never deleted. Pure.
 */
import { ADOPT_ALLOWED, ANNOTATION_ADOPT } from '../../../api/names.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { ObjectId } from '../../../kube/objects/object-id.ts';
import { isPipelineId } from '../../protected-kinds.ts';
import type { InventoryEntry } from '../inventory/inventory.ts';
import {
  adopts,
  isAdopted,
  isAppliedBySync,
  isCreatedBySync,
  isOfOtherPipeline,
  type ObjectOwner,
  ownerOf,
} from '../inventory/owner-labels.ts';
import { declaredAgainReason } from '../prune/terminating.ts';

export type Takeover =
  | {
      readonly action: 'write';
      /** Conflicts with other field managers are decided for git. */
      readonly force: boolean;
      /** Another client created it: it is released, not deleted, when git removes it. */
      readonly adopted: boolean;
      readonly because: string;
    }
  | { readonly action: 'refuse'; readonly because: string }
  /** The object is being deleted: its name is free soon. */
  | { readonly action: 'wait'; readonly because: string };

/** Holds an object that git declares, and what the inventory lists for it. */
export interface DeclaredObject {
  readonly id: ObjectId;
  readonly unit: string;
  readonly object: KubeObject;
  readonly force: boolean;
  readonly entry?: InventoryEntry;
}

export function planTakeover(plan: DeclaredObject, found: KubeObject, hub: string): Takeover {
  const owner = ownerOf(found, { hub, unit: plan.unit });
  const because = otherOwnerReason(plan, owner);
  if (because !== undefined) return { action: 'refuse', because };
  if (found.metadata.deletionTimestamp) return { action: 'wait', because: declaredAgainReason(found) };
  return (
    confirmOurs(plan, found, owner) ??
    adoptByGit(plan) ??
    takeBack(plan, found, owner) ?? { action: 'refuse', because: notOursReason(found) }
  );
}

function otherOwnerReason({ entry }: DeclaredObject, owner: ObjectOwner): string | undefined {
  if (owner === 'other-hub') return 'another hub owns it';
  return isOfOtherPipeline(owner, entry) ? 'another Pipeline of this hub owns it' : undefined;
}

function confirmOurs(
  { entry, force }: DeclaredObject,
  found: KubeObject,
  owner: ObjectOwner,
): Takeover | undefined {
  const adopted = entry?.adopted === true || isAdopted(found);
  if (entry?.uid !== undefined && entry.uid === found.metadata.uid) {
    return { action: 'write', force, adopted, because: 'its owner labels were removed' };
  }
  if (owner === 'nobody' || !isAppliedBySync(found)) return undefined;
  return { action: 'write', force, adopted, because: 'sync wrote it, and it is not confirmed yet' };
}

function adoptByGit({ object }: DeclaredObject): Takeover | undefined {
  if (!adopts(object)) return undefined;
  return { action: 'write', force: true, adopted: true, because: 'adopted by git' };
}

/** Plans to take back an object that was released, or whose labels were removed: a revert takes it back, and does not fight for it. */
function takeBack(plan: DeclaredObject, found: KubeObject, owner: ObjectOwner): Takeover | undefined {
  if (owner !== 'nobody' || !(isAppliedBySync(found) || isOwnPipeline(plan))) return undefined;
  return {
    action: 'write',
    force: false,
    adopted: !isCreatedBySync(found),
    because: 'sync managed it before',
  };
}

function notOursReason(found: KubeObject): string {
  return (
    `it exists, and kubenode did not create it${managersOf(found)}. Delete it, choose another name, or adopt it: ` +
    `annotate it in git with ${ANNOTATION_ADOPT}: ${ADOPT_ALLOWED}`
  );
}

/** Tells whether the object is the Pipeline of its own unit: it must exist before sync can read the commit that declares it. */
function isOwnPipeline({ id, unit }: DeclaredObject): boolean {
  return isPipelineId(id) && unit.startsWith(`${id.name}.`);
}

function managersOf({ metadata }: KubeObject): string {
  const names = [...new Set((metadata.managedFields ?? []).map(({ manager }) => manager))];
  return names.length > 0 ? ` (field managers: ${names.slice(0, 3).join(', ')})` : '';
}
