/**
 * Before objects leave a store because a list does not hold them, some of them are asked for by name. A cache, a proxy or
 * a filter in between may lose a list's items without an error; it seldom loses the objects themselves too.
 */
import type { Client } from '../client/client.ts';
import { isKubeError, KubeError } from '../client/errors.ts';
import { labelOf, nameOf } from '../client/paths.ts';
import type { KubeObject, Resource } from '../objects/object.ts';
import { storeKey } from './store.ts';

/** Which objects. */
export interface Selection {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

interface Question {
  readonly client: Pick<Client, 'get' | 'pages'>;
  readonly resource: Resource;
  readonly selection: Selection;
  readonly signal: AbortSignal;
}

/** Rejects when one of these, which a list did not hold, is there all the same. */
export async function verifyMissing(missing: readonly KubeObject[], question: Question): Promise<void> {
  // A list that was cut lacks the last, an empty one lacks all.
  const witnesses = new Set([missing[0], missing[missing.length >> 1], missing.at(-1)]);
  for (const witness of witnesses) {
    if (witness && (await isThere(witness, question)) && (await isSelected(witness, question))) {
      const label = labelOf(witness, nameOf(witness));
      throw new KubeError('BadAnswer', `a list without ${label}, which is there: not believed`);
    }
  }
}

/** The same object, not another one under its name. Who may list but not get cannot ask. */
async function isThere(object: KubeObject, { client, resource, signal }: Question): Promise<boolean> {
  try {
    const { metadata } = await client.get(resource, nameOf(object), { signal });
    return metadata.uid === object.metadata.uid;
  } catch (error) {
    if (isKubeError(error, 'NotFound', 'Forbidden')) return false;
    throw error;
  }
}

/** It may be there and no longer be one of those that we list. Only a second list can tell. */
async function isSelected(
  object: KubeObject,
  { client, resource, selection, signal }: Question,
): Promise<boolean> {
  const { labelSelector, fieldSelector } = selection;
  if (labelSelector === undefined && fieldSelector === undefined) return true;
  for await (const { items } of client.pages(resource, { ...selection, signal })) {
    if (items.some(({ metadata }) => storeKey(metadata) === storeKey(object.metadata))) return true;
  }
  return false;
}
