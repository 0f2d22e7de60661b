/**
 * Records in the hosted cluster which objects an add-on has: before they are written, so that a crash in between leaves none behind, and
 * after those of former manifests are deleted.
 */
import {
  LABEL_ADDON,
  LABEL_MANAGED_BY,
  MANAGED_BY,
  MANAGER_HOSTING,
  NAMESPACE,
} from '../../../../api/names.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { unlessMissing } from '../../../../kube/client/errors.ts';
import { CONFIG_MAPS } from '../../../../kube/objects/core-kinds.ts';
import { byCode } from '../../../../kube/objects/digest.ts';
import { isRecord, textAt } from '../../../../kube/objects/json.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import { objectIdOf, objectKey } from '../../../../kube/objects/object-id.ts';

/** An object without its content. */
export type ObjectReference = Pick<KubeObject, 'apiVersion' | 'kind'> & {
  readonly metadata: { readonly name: string; readonly namespace?: string };
};

export interface AddonInventory {
  readonly name: string;
  readonly begun: string;
  readonly applied?: string | undefined;
  /** In the order in which they are written. */
  readonly objects: readonly ObjectReference[];
}

const PREFIX = 'kubenode-addon-';

export async function listInventories(
  client: Client,
  signal: AbortSignal,
): Promise<readonly AddonInventory[]> {
  const options = { namespace: NAMESPACE, labelSelector: LABEL_ADDON, signal };
  const { items } = await client.list(CONFIG_MAPS, options);
  return items.flatMap((item) => inventoryOf(item) ?? []).toSorted((a, b) => byCode(a.name, b.name));
}

export async function readInventory(
  client: Client,
  name: string,
  signal: AbortSignal,
): Promise<AddonInventory | undefined> {
  const found = await unlessMissing(client.get(CONFIG_MAPS, nameOf(name), { signal }));
  return found && inventoryOf(found);
}

export async function writeInventory(
  client: Client,
  { name, begun, applied, objects }: AddonInventory,
  signal: AbortSignal,
): Promise<void> {
  const labels = { [LABEL_MANAGED_BY]: MANAGED_BY, [LABEL_ADDON]: name };
  const data = {
    begun,
    ...(applied === undefined ? {} : { applied }),
    objects: JSON.stringify(objects.map(referenceTo)),
  };
  const record = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...nameOf(name), labels }, data };
  await client.apply(CONFIG_MAPS, record, { fieldManager: MANAGER_HOSTING, force: true, signal });
}

export async function deleteInventory(client: Client, name: string, signal: AbortSignal): Promise<void> {
  const found = await unlessMissing(client.get(CONFIG_MAPS, nameOf(name), { signal }));
  if (!found) return;
  await unlessMissing(client.delete(CONFIG_MAPS, nameOf(name), { uid: found.metadata.uid ?? '', signal }));
}

/** Returns the objects of both, without repetition: those of the second follow. */
export function mergeReferences(
  first: readonly ObjectReference[],
  second: readonly ObjectReference[],
): readonly ObjectReference[] {
  const all = [...first, ...second].map((each) => [referenceKey(each), referenceTo(each)] as const);
  return [...new Map(all).values()];
}

export function referenceKey(reference: ObjectReference): string {
  return objectKey(objectIdOf(reference));
}

function referenceTo({ apiVersion, kind, metadata: { name, namespace } }: ObjectReference): ObjectReference {
  return { apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } };
}

function nameOf(addon: string): { readonly name: string; readonly namespace: string } {
  return { name: `${PREFIX}${addon}`, namespace: NAMESPACE };
}

/** A record that a person damaged names no object: the add-on is applied again, and what is missing in the record stays. */
function inventoryOf(record: KubeObject): AddonInventory | undefined {
  const name = record.metadata.labels?.[LABEL_ADDON];
  if (name === undefined || record.metadata.name !== `${PREFIX}${name}`) return undefined;
  return {
    name,
    begun: textAt(record, 'data', 'begun') ?? '',
    applied: textAt(record, 'data', 'applied'),
    objects: parseReferences(textAt(record, 'data', 'objects') ?? ''),
  };
}

function parseReferences(text: string): readonly ObjectReference[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter(isReference).map(referenceTo) : [];
  } catch {
    return [];
  }
}

function isReference(value: unknown): value is ObjectReference {
  if (!isRecord(value) || !isRecord(value['metadata'])) return false;
  const { name, namespace } = value['metadata'];
  const texts = [value['apiVersion'], value['kind'], name, namespace ?? ''];
  return texts.every((text) => typeof text === 'string');
}
