/** The kinds that a reconcile reads: those that git declares and those of the inventory. Pure. */
import type { RenderedUnit } from '../../rendered.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { KindRef } from './ports.ts';

export function usedKinds(units: readonly RenderedUnit[], { entries }: Inventory): KindRef[] {
  const listed = [...entries.values()].map(({ group, version, kind }) => ({
    apiVersion: group ? `${group}/${version}` : version,
    kind,
  }));
  return withoutDuplicates([...listed, ...declaredKinds(units)]);
}

export function declaredKinds(units: readonly RenderedUnit[]): KindRef[] {
  return withoutDuplicates(units.flatMap(({ objects }) => objects.map(({ object }) => object)));
}

function withoutDuplicates(refs: readonly KindRef[]): KindRef[] {
  const kinds = new Map(refs.map(({ apiVersion, kind }) => [`${apiVersion} ${kind}`, { apiVersion, kind }]));
  return [...kinds.values()];
}
