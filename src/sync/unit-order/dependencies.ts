/**
 * Reads which units a unit depends on: those that the annotation of its objects names. A render puts the names of all objects of a
 * unit on each of them, so that the order is known as long as one of them exists. Pure.
 */
import { ANNOTATION_DEPENDS_ON } from '../../api/names.ts';
import { byCode } from '../../kube/objects/digest.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { scopeOfUnit } from '../hub-scope.ts';
import type { RenderedObject, RenderedUnit } from '../rendered.ts';

/** The units that each unit depends on, by the name of the unit. Units without dependencies are not in it. */
export type UnitDependencies = ReadonlyMap<string, ReadonlySet<string>>;

/** Returns the names in the annotation of an object. An empty name is one that is missing between two commas. */
export function dependencyNames({ metadata }: KubeObject): readonly string[] {
  const text = metadata.annotations?.[ANNOTATION_DEPENDS_ON];
  return text === undefined ? [] : text.split(',').map((name) => name.trim());
}

/** Returns the objects of one unit, each with the names that any of them has. */
export function withSharedDependencies(objects: readonly RenderedObject[]): readonly RenderedObject[] {
  const names = new Set(objects.flatMap(({ object }) => dependencyNames(object)));
  if (names.size === 0) return objects;
  const text = [...names].toSorted(byCode).join(', ');
  return objects.map(({ object, source }) => {
    const annotations = { ...object.metadata.annotations, [ANNOTATION_DEPENDS_ON]: text };
    return { object: { ...object, metadata: { ...object.metadata, annotations } }, source };
  });
}

/** Returns the units that an object of the unit names, as the inventory calls them: units of the hub have a prefix. */
export function dependenciesOf(object: KubeObject, unit: string): readonly string[] {
  const scope = scopeOfUnit(unit);
  return dependencyNames(object).map((name) => `${scope}${name}`);
}

export function unitDependencies(units: readonly RenderedUnit[]): UnitDependencies {
  const found = new Map<string, ReadonlySet<string>>();
  for (const { unit, objects } of units) {
    const names = new Set(objects.flatMap(({ object }) => dependenciesOf(object, unit)));
    if (names.size > 0) found.set(unit, names);
  }
  return found;
}
