/**
 * The only door through which sync deletes what it applied. The object is read first, and must carry our marks;
 * the delete then names its UID and its version, so that it hits this very object as it was read, or nothing.
 */
import { LABEL_HUB, LABEL_UNIT } from '../../api/names.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import type { KubeObject, Metadata, Resource } from '../../kube/objects/object.ts';
import type { ObjectId } from '../../kube/objects/object-id.ts';
import { type Claim, isKeptOnPrune, ownerOf } from './inventory/owner-labels.ts';

export interface DeleteTarget extends ObjectId {
  readonly version: string;
  readonly unit: string;
  readonly from?: string;
}

export type Deleted =
  | { readonly outcome: 'gone' }
  | { readonly outcome: 'terminating'; readonly because: string }
  /** It is there and not ours to delete. */
  | { readonly outcome: 'refused'; readonly because: string };

export interface DeleteContext {
  readonly client: Client;
  readonly hub: string;
}

export async function deleteOwned(context: DeleteContext, target: DeleteTarget): Promise<Deleted> {
  const found = await lookUp(context, target);
  if (found === 'gone') return { outcome: 'gone' };
  const { resource, object } = found;
  const objection = objectionTo(object, { ...target, hub: context.hub });
  if (objection) return { outcome: 'refused', because: objection };
  if (object.metadata.deletionTimestamp) return terminating(object);

  return remove(context, target, resource, object.metadata);
}

async function remove(
  context: DeleteContext,
  target: DeleteTarget,
  resource: Resource,
  { uid, resourceVersion }: Metadata,
): Promise<Deleted> {
  if (!uid || !resourceVersion) {
    return { outcome: 'refused', because: 'the server named no UID or version of it' };
  }
  const { client } = context;
  try {
    await client.delete(resource, nameOf(target), {
      uid,
      resourceVersion,
      propagation: 'Background',
    });
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return { outcome: 'gone' };
    // Somebody wrote to it between our read and our delete: the next pass looks again, nothing is repeated blindly.
    if (isKubeError(error, 'Conflict')) {
      return { outcome: 'refused', because: 'it has just changed: looked at again' };
    }
    throw error;
  }
  return confirmGone(context, target, uid);
}

/** Whether the name is free, or taken by another object: either way ours is gone. */
export async function confirmGone(
  context: DeleteContext,
  target: DeleteTarget,
  uid?: string,
): Promise<Deleted> {
  const found = await lookUp(context, target);
  if (found === 'gone') return { outcome: 'gone' };
  if (uid !== undefined && found.object.metadata.uid !== uid) return { outcome: 'gone' };
  if (found.object.metadata.deletionTimestamp) return terminating(found.object);
  return { outcome: 'refused', because: 'it is there, and its marks may be gone: looked at again' };
}

async function lookUp(
  { client }: DeleteContext,
  target: DeleteTarget,
): Promise<{ resource: Resource; object: KubeObject } | 'gone'> {
  const apiVersion = target.group ? `${target.group}/${target.version}` : target.version;
  const resource = await client.resourceFor(apiVersion, target.kind);
  try {
    return { resource, object: await client.get(resource, nameOf(target)) };
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return 'gone';
    throw error;
  }
}

function objectionTo(object: KubeObject, claim: Claim): string | undefined {
  const owner = ownerOf(object, claim);
  if (owner !== 'ours') {
    return `its marks ${LABEL_HUB} and ${LABEL_UNIT} do not name this hub and unit ${claim.unit}: ${owner}`;
  }
  return isKeptOnPrune(object) ? 'it is marked kubenode.dev/prune: Never' : undefined;
}

function terminating({ metadata: { finalizers = [], deletionTimestamp = 'now' } }: KubeObject): Deleted {
  const blockers = finalizers.length > 0 ? `, finalizers: ${finalizers.join(', ')}` : '';
  return { outcome: 'terminating', because: `being deleted since ${deletionTimestamp}${blockers}` };
}

function nameOf({ name, namespace }: ObjectId): { name: string; namespace?: string } {
  return namespace === '' ? { name } : { name, namespace };
}
