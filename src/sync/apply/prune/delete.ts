/**
 * The only code that deletes objects which sync applied. It reads the object first and checks its owner labels. The delete
 * then carries UID and resourceVersion, so that it deletes exactly the object that was read, or nothing.
 */
import { ANNOTATION_PRUNE, LABEL_HUB, LABEL_UNIT, PRUNE_NEVER } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { INVALID_SEGMENT } from '../../../kube/client/paths.ts';
import type { KubeObject, Metadata, Resource } from '../../../kube/objects/object.ts';
import type { ObjectId } from '../../../kube/objects/object-id.ts';
import {
  isAdopted,
  isAppliedBySync,
  isKeptOnPrune,
  type ObjectOwner,
  type OwnerClaim,
  ownerOf,
} from '../inventory/owner-labels.ts';
import { scopeMismatchReason } from '../scope.ts';
import { isKeptByOthers, terminatingReason } from './terminating.ts';

export interface DeleteTarget extends ObjectId {
  readonly version: string;
  readonly unit: string;
  readonly from?: string;
  readonly uid?: string;
  /** True if git declares the object: it is created again at once. A prune takes removed labels as the decision to keep the object. */
  readonly replaces?: true;
  /** The delete was acknowledged for the object with this `uid` only. */
  readonly acknowledgedBy?: string;
}

export type OwnedDeleteOutcome =
  /** The object is not found, or was replaced by an object with another UID. */
  | { readonly outcome: 'deleted' }
  /** The object is being deleted. `keptByOthers` is true if only finalizers of others keep it. */
  | { readonly outcome: 'terminating'; readonly because: string; readonly keptByOthers: boolean }
  /** The object exists without our owner labels, or sync did not create it: it stays, and the inventory forgets it. */
  | { readonly outcome: 'not ours'; readonly because: string }
  /** The object exists, and we may not delete it. */
  | { readonly outcome: 'refused'; readonly because: string };

export interface DeleteContext {
  readonly client: Client;
  readonly hub: string;
}

export async function deleteOwned(context: DeleteContext, target: DeleteTarget): Promise<OwnedDeleteOutcome> {
  const found = await read(context, target);
  if (found === 'not found') return { outcome: 'deleted' };
  const { resource, object } = found;
  const because = notDeletableReason(object, { ...target, hub: context.hub });
  if (because !== undefined) return { outcome: 'refused', because };
  const foreign = notCreatedReason(object);
  if (foreign !== undefined) return { outcome: 'not ours', because: foreign };
  const unacknowledged = notAcknowledgedReason(object, target);
  if (unacknowledged !== undefined) return { outcome: 'refused', because: unacknowledged };
  if (object.metadata.deletionTimestamp) return terminating(object);

  return sendDelete(context, target, resource, object.metadata);
}

async function sendDelete(
  context: DeleteContext,
  target: DeleteTarget,
  resource: Resource,
  { uid, resourceVersion }: Metadata,
): Promise<OwnedDeleteOutcome> {
  if (!uid || !resourceVersion) {
    return { outcome: 'refused', because: 'the server returned no UID or no resourceVersion' };
  }
  const { client } = context;
  try {
    await client.delete(resource, nameOf(target), {
      uid,
      resourceVersion,
      propagation: 'Background',
    });
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return { outcome: 'deleted' };
    // It was written between our read and our delete. The next reconcile reads it again.
    if (isKubeError(error, 'Conflict')) {
      return { outcome: 'refused', because: 'changed since it was read: retried' };
    }
    throw error;
  }
  return confirmDeleted(context, target, uid);
}

/**
 * Confirms the delete of an object that is not observed. It is deleted when its name is free, or taken by an object with another
 * UID. One without our owner labels is not ours: its labels were removed by hand, or our first write was refused.
 */
export async function confirmDeleted(
  context: DeleteContext,
  target: DeleteTarget,
  uid?: string,
): Promise<OwnedDeleteOutcome> {
  const found = await read(context, target);
  if (found === 'not found') return { outcome: 'deleted' };
  if (uid !== undefined && found.object.metadata.uid !== uid) return { outcome: 'deleted' };
  const owner = ownerOf(found.object, { ...target, hub: context.hub });
  if (owner !== 'ours') return { outcome: 'not ours', because: notOursReason(target, owner) };
  if (found.object.metadata.deletionTimestamp) return terminating(found.object);
  return { outcome: 'refused', because: 'it exists and is not observed yet: retried' };
}

async function read(
  { client }: DeleteContext,
  target: DeleteTarget,
): Promise<{ resource: Resource; object: KubeObject } | 'not found'> {
  const apiVersion = target.group ? `${target.group}/${target.version}` : target.version;
  const resource = await client.resourceFor(apiVersion, target.kind);
  if (scopeMismatchReason(resource, target) !== undefined) return 'not found';
  try {
    return { resource, object: await client.get(resource, nameOf(target)) };
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return 'not found';
    if (isKubeError(error, 'Invalid') && error.reason === INVALID_SEGMENT) return 'not found';
    throw error;
  }
}

function notDeletableReason(
  object: KubeObject,
  claim: OwnerClaim & Pick<DeleteTarget, 'replaces'>,
): string | undefined {
  const owner = ownerOf(object, claim);
  const stripped = owner === 'nobody' && claim.replaces && claim.uid === object.metadata.uid;
  if (owner !== 'ours' && !stripped) return notOursReason(claim, owner);
  return isKeptOnPrune(object) ? `it is annotated ${ANNOTATION_PRUNE}: ${PRUNE_NEVER}` : undefined;
}

function notAcknowledgedReason(
  { metadata }: KubeObject,
  { uid, acknowledgedBy }: DeleteTarget,
): string | undefined {
  return acknowledgedBy === undefined || uid === metadata.uid
    ? undefined
    : `it was recreated since its delete was acknowledged, and has another UID: planned again`;
}

/** Returns why the object is not ours to delete: an object that another client created is never deleted, whatever its labels are. */
function notCreatedReason(object: KubeObject): string | undefined {
  if (isAdopted(object)) return 'another client created it';
  return isAppliedBySync(object) ? undefined : 'it carries our owner labels, but sync did not write it';
}

function notOursReason({ unit }: Pick<OwnerClaim, 'unit'>, owner: ObjectOwner): string {
  return `its labels ${LABEL_HUB} and ${LABEL_UNIT} do not name this hub and unit ${unit}: ${owner}`;
}

function terminating(object: KubeObject): OwnedDeleteOutcome {
  return {
    outcome: 'terminating',
    because: terminatingReason(object),
    keptByOthers: isKeptByOthers(object),
  };
}

function nameOf({ name, namespace }: ObjectId): { name: string; namespace?: string } {
  return namespace === '' ? { name } : { name, namespace };
}
