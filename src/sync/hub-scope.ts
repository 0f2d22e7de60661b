/** How the objects that a Pipeline declares for the hub itself are told apart from those of the clusters. */
import type { RenderedTarget } from './rendered.ts';

/** The prefix of their unit names. Unit names contain no dot, so there is only this one. */
export function hubScope(pipeline: string): string {
  return `${pipeline}.`;
}

/** The scope of the inventory that lists the unit: that of a Pipeline's objects in the hub, or '' in a cluster. */
export function scopeOfUnit(unit: string): string {
  return unit.slice(0, unit.indexOf('.') + 1);
}

/** Returns its units, named as in the inventory of that scope. */
export function scopedToHub(target: RenderedTarget, pipeline: string): RenderedTarget {
  const units = target.units.map((unit) => ({ ...unit, unit: `${hubScope(pipeline)}${unit.unit}` }));
  return { ...target, units };
}
