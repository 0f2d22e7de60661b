/** Reads, applies and deletes single objects of an add-on. */
import type { HostedAddon } from '../../../../api/generated/types.ts';
import { MANAGER_HOSTING } from '../../../../api/names.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { isKubeError, unlessMissing } from '../../../../kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../../kube/objects/object.ts';
import { HostingError } from '../../errors.ts';
import { isDeletable } from '../ownership.ts';
import { type ObjectReference, referenceKey } from './inventory.ts';

/** An object as its API server names it: with the namespace that kubectl would write it to. */
export interface ServedObject<T extends ObjectReference = KubeObject> {
  readonly resource: Resource;
  readonly object: T;
}

/** Resolves to undefined when the kind is not served, as that of a CRD of the same add-on before it is applied. */
export async function findServed<T extends ObjectReference>(
  client: Pick<Client, 'resourceFor'>,
  object: T,
): Promise<ServedObject<T> | undefined> {
  const resource = await unlessMissing(client.resourceFor(object.apiVersion, object.kind));
  if (!resource) return undefined;
  const { namespace, ...metadata } = object.metadata;
  if (!resource.namespaced) return { resource, object: { ...object, metadata } };
  return { resource, object: { ...object, metadata: { ...metadata, namespace: namespace ?? 'default' } } };
}

export async function readLive(
  client: Client,
  { resource, object }: ServedObject<ObjectReference>,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  return await unlessMissing(client.get(resource, object.metadata, { signal }));
}

/** Rejects with a HostingError for an answer that stays the same until the manifests or the object change. */
export async function applyAddonObject(
  client: Client,
  { resource, object }: ServedObject,
  { addon, signal, dryRun = false }: { addon: HostedAddon; signal: AbortSignal; dryRun?: boolean },
): Promise<KubeObject> {
  try {
    return await client.apply(resource, object, {
      fieldManager: MANAGER_HOSTING,
      force: true,
      dryRun,
      signal,
    });
  } catch (error) {
    if (!isKubeError(error, 'Invalid', 'Forbidden', 'Conflict', 'NotFound')) throw error;
    throw rejected(addon, object, error.message);
  }
}

export function rejected({ url }: HostedAddon, object: ObjectReference, message: string): HostingError {
  return new HostingError('AddonRejected', `${referenceKey(object)}: ${message}`, {
    where: url,
    hint: 'correct the manifests, or the object that hinders it',
  });
}

/** Deletes an object that belongs to the add-on. Resolves to whether it is still there. */
export async function deleteObject(
  client: Client,
  reference: ObjectReference,
  { addon, signal }: { addon: string; signal: AbortSignal },
): Promise<'missing' | 'deleted' | 'terminating'> {
  const served = await findServed(client, reference);
  const live = served && (await readLive(client, served, signal));
  if (!live || !isDeletable(live, addon)) return 'missing';
  if (live.metadata.deletionTimestamp !== undefined) return 'terminating';
  const options = { uid: live.metadata.uid ?? '', propagation: 'Background', signal } as const;
  await unlessMissing(client.delete(served.resource, served.object.metadata, options));
  return 'deleted';
}
