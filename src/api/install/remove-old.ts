/** Removes what an earlier version installed and this one does not have. */
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import { apiVersionOf, nameOf } from '../../kube/client/paths.ts';
import type { KubeObject, Resource } from '../../kube/objects/object.ts';
import { resourceOf } from './objects.ts';
import { PRUNE_SELECTOR, PRUNED_KINDS, planPrune } from './prune.ts';

export interface RemovedObject {
  readonly object: KubeObject;
  readonly outcome: 'deleted' | 'failed';
  readonly error?: Error;
}

export interface RemoveOptions {
  readonly dryRun: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Rejects before the first removal if not all kinds can be listed. */
export async function removeOld(
  client: Pick<Client, 'pages' | 'delete'>,
  declared: readonly KubeObject[],
  options: RemoveOptions,
): Promise<readonly RemovedObject[]> {
  const live: KubeObject[] = [];
  for (const kind of PRUNED_KINDS) live.push(...(await listOurs(client, kind, options)));
  const removed: RemovedObject[] = [];
  for (const { act, object } of planPrune(live, declared)) {
    if (act === 'delete') removed.push(await remove(client, object, options));
  }
  return removed;
}

async function listOurs(
  client: Pick<Client, 'pages'>,
  resource: Resource,
  { signal }: RemoveOptions,
): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = [];
  const call = { labelSelector: PRUNE_SELECTOR, ...(signal ? { signal } : {}) };
  for await (const { items } of client.pages(resource, call)) found.push(...items);
  // The items of a list of the API server have neither.
  return found.map((item) => ({ ...item, apiVersion: apiVersionOf(resource), kind: resource.kind }));
}

/** Only the object that was judged: a change in between is a conflict. */
async function remove(
  client: Pick<Client, 'delete'>,
  object: KubeObject,
  { dryRun, signal }: RemoveOptions,
): Promise<RemovedObject> {
  const { uid = '', resourceVersion = '' } = object.metadata;
  const call = { uid, resourceVersion, dryRun, ...(signal ? { signal } : {}) };
  try {
    await client.delete(resourceOf(object), nameOf(object), call);
    return { object, outcome: 'deleted' };
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return { object, outcome: 'deleted' };
    return { object, outcome: 'failed', error: error instanceof Error ? error : new Error(String(error)) };
  }
}
