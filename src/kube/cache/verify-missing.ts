/**
 * Before objects that are missing in a list leave the store, some of them are read by name. A cache or proxy may lose
 * items of a list without an error, but seldom the objects themselves.
 */
import type { Client } from '../client/client.ts';
import { isKubeError, KubeError } from '../client/errors.ts';
import { labelOf, nameOf } from '../client/paths.ts';
import type { KubeObject, Resource } from '../objects/object.ts';
import type { Log } from '../process/log.ts';
import { storeKey } from './store.ts';

/** The objects that a list or watch covers. */
export interface Selection {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

interface Check {
  readonly client: Pick<Client, 'get' | 'pages'>;
  readonly resource: Resource;
  readonly selection: Selection;
  readonly signal: AbortSignal;
  readonly log: Pick<Log, 'warn'>;
}

/** Rejects when one of the objects that are missing in the list exists. */
export async function verifyMissing(missing: readonly KubeObject[], check: Check): Promise<void> {
  // A truncated list lacks the last objects, an empty one lacks all.
  const samples = new Set([missing[0], missing[missing.length >> 1], missing.at(-1)]);
  for (const sample of samples) {
    if (sample && (await exists(sample, check)) && (await isSelected(sample, check))) {
      const label = labelOf(sample, nameOf(sample));
      throw new KubeError('BadAnswer', `list rejected: it lacks ${label}, which exists`);
    }
  }
}

/** True for the same object, not for another one with its name. Without permission to get it, this cannot be checked. */
async function exists(missing: KubeObject, { client, resource, signal, log }: Check): Promise<boolean> {
  try {
    const { metadata } = await client.get(resource, nameOf(missing), { signal });
    return metadata.uid === missing.metadata.uid;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return false;
    if (!isKubeError(error, 'Forbidden')) throw error;
    const object = labelOf(missing, nameOf(missing));
    log.warn('list trusted without a check: no right to get an object that it lacks', { object, error });
    return false;
  }
}

/** The object may exist and no longer match the selectors. Only a second list can tell. */
async function isSelected(
  object: KubeObject,
  { client, resource, selection, signal }: Check,
): Promise<boolean> {
  const { labelSelector, fieldSelector } = selection;
  if (labelSelector === undefined && fieldSelector === undefined) return true;
  for await (const { items } of client.pages(resource, { ...selection, signal })) {
    if (items.some(({ metadata }) => storeKey(metadata) === storeKey(object.metadata))) return true;
  }
  return false;
}
