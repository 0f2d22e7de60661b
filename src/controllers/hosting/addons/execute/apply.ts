/** Applies and removes the manifests of an add-on. What is going to be written is recorded first. */

import type { HostedAddon } from '../../../../api/generated/types.ts';
import { isCrd } from '../../../../api/install/objects.ts';
import { notServedReason } from '../../../../api/install/ready.ts';
import type { Client } from '../../../../kube/client/client.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import type { Clock } from '../../../../os/clock.ts';
import { HostingError } from '../../errors.ts';
import { notOursReason } from '../ownership.ts';
import {
  deleteInventory,
  mergeReferences,
  type ObjectReference,
  readInventory,
  referenceKey,
  writeInventory,
} from './inventory.ts';
import {
  applyAddonObject,
  deleteObject,
  findServed,
  readLive,
  rejected,
  type ServedObject,
} from './objects.ts';

export interface ApplyParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly isDeclared: (addon: string) => boolean;
}

/** An API server serves a new kind within a second. */
const SERVED_MS = 20_000;

/** Nothing is written when an object is of others. Each step can be repeated. */
export async function applyAddon(
  addon: HostedAddon,
  objects: readonly KubeObject[],
  parts: ApplyParts,
): Promise<void> {
  const { client, signal } = parts;
  const { name, sha256 } = addon;
  for (const object of objects) {
    const served = await findServed(client, object);
    if (served) await requireOurs(addon, served, parts);
  }
  const before = await readInventory(client, name, signal);
  const former = before?.objects ?? [];
  const begun = { name, begun: sha256, applied: before?.applied };
  await writeInventory(client, { ...begun, objects: mergeReferences(former, objects) }, signal);
  const written: ServedObject[] = [];
  for (const object of objects) written.push(await applyServed(addon, object, parts));
  const kept = new Set(written.map(({ object }) => referenceKey(object)));
  await prune(name, former, kept, parts);
  const references = written.map(({ object }) => object);
  await writeInventory(client, { ...begun, applied: sha256, objects: references }, signal);
}

async function requireOurs(addon: HostedAddon, served: ServedObject, parts: ApplyParts): Promise<void> {
  const live = await readLive(parts.client, served, parts.signal);
  const reason = live && notOursReason(live, addon.name, parts.isDeclared);
  if (reason === undefined) return;
  throw new HostingError('AddonObjectNotOurs', `${referenceKey(served.object)} exists, and ${reason}`, {
    where: addon.url,
    hint: 'delete it, or remove it from the manifests',
  });
}

async function applyServed(addon: HostedAddon, object: KubeObject, parts: ApplyParts): Promise<ServedObject> {
  const { client, clock, signal } = parts;
  const served = await findServed(client, object);
  if (!served) {
    throw rejected(addon, object, `the API server does not serve ${object.kind} of ${object.apiVersion}`);
  }
  // A kind of this add-on could not be asked for before its CRD was applied.
  await requireOurs(addon, served, parts);
  await applyAddonObject(client, served, { addon, signal });
  if (isCrd(object)) {
    const because = await notServedReason(client, object, {
      clock,
      signal,
      end: clock.monotonicMs() + SERVED_MS,
    });
    client.forgetResources();
    if (because !== undefined) throw rejected(addon, object, because);
  }
  return served;
}

/** Deletes what only the former manifests had. */
async function prune(
  addon: string,
  former: readonly ObjectReference[],
  kept: ReadonlySet<string>,
  { client, signal }: ApplyParts,
): Promise<void> {
  for (const reference of former.toReversed()) {
    const served = await findServed(client, reference);
    if (!served || kept.has(referenceKey(served.object))) continue;
    await deleteObject(client, reference, { addon, signal });
  }
}

/** The record goes last: what a crash leaves is found by it. */
export async function removeAddon(client: Client, name: string, signal: AbortSignal): Promise<void> {
  const inventory = await readInventory(client, name, signal);
  const references = inventory?.objects.toReversed() ?? [];
  for (const reference of references) await deleteObject(client, reference, { addon: name, signal });
  const left: string[] = [];
  for (const reference of references) {
    const state = await deleteObject(client, reference, { addon: name, signal });
    if (state !== 'missing') left.push(referenceKey(reference));
  }
  if (left.length === 0) return await deleteInventory(client, name, signal);
  throw new HostingError('AddonObjectsLeft', `${left.length} objects are being deleted, first ${left[0]}`, {
    where: left[0] ?? name,
    hint: 'wait for their finalizers, or remove those whose controller does not run any more',
  });
}
