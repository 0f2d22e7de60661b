/**
 * The kinds that a reconcile reads: those that git declares and those of the inventory. Each in one version, that of git: the
 * one in the inventory may not be served any more. Pure.
 */
import { groupOf } from '../../../kube/objects/object-id.ts';
import type { RenderedUnit } from '../../rendered.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { KindRef } from './ports.ts';

export function usedKinds(units: readonly RenderedUnit[], { entries }: Inventory): KindRef[] {
  const listed = [...entries.values()].map(({ group, version, kind }) => ({
    apiVersion: group ? `${group}/${version}` : version,
    kind,
  }));
  return withoutDuplicates([...declaredKinds(units), ...listed]);
}

export function declaredKinds(units: readonly RenderedUnit[]): KindRef[] {
  return withoutDuplicates(units.flatMap(({ objects }) => objects.map(({ object }) => object)));
}

/** A watch that goes on costs about three requests: fewer events than this are cheaper. */
const MANY = 200;

/** Returns the kinds of which so many objects are written that their watches would repeat a lot. */
export function kindsOfMany(objects: readonly KindRef[]): KindRef[] {
  const groups = Map.groupBy(objects, kindKey);
  return withoutDuplicates([...groups.values()].filter(({ length }) => length >= MANY).flat());
}

/** Returns the key of a kind without its version: an object is the same in every version of its kind. */
export function kindKey({ apiVersion, kind }: KindRef): string {
  return `${groupOf(apiVersion)}/${kind}`;
}

function withoutDuplicates(refs: readonly KindRef[]): KindRef[] {
  const kinds = new Map<string, KindRef>();
  for (const { apiVersion, kind } of refs) {
    const key = kindKey({ apiVersion, kind });
    if (!kinds.has(key)) kinds.set(key, { apiVersion, kind });
  }
  return [...kinds.values()];
}
