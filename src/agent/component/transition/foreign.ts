/**
 * Finds the units that the host itself runs under the name of a unit of the new version, by a definition of a package or of a person. Their
 * processes know nothing of our definition until they are started again. Pure.
 */
import type { UnitDefinition } from '../../host/port.ts';
import type { ComponentInput } from '../input.ts';
import type { Ends } from './builders.ts';

/** Returns the units of the goal that run by another definition. What is `existing` keeps its own, so it is not among them. */
export function foreignUnits(
  { observed }: Pick<ComponentInput, 'observed'>,
  { origin, goal }: Ends,
): readonly UnitDefinition[] {
  const ours = new Set(origin?.units.map(({ name }) => name));
  return (goal?.units ?? []).filter(({ name, existing }) => {
    const status = observed.units.get(name);
    const isRunning = status?.active === 'Active' || status?.active === 'Activating';
    return !existing && !ours.has(name) && status?.defined === false && isRunning;
  });
}
