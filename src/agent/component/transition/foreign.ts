/**
 * Finds the units that the host itself runs under the name of a unit of the new version, by a definition of a package or of a person. Their
 * processes know nothing of our definition until they are started again. Pure.
 */
import type { ActivationClass } from '../../../api/enums.ts';
import { changeBetween, isClassAtLeast } from '../../../api/machine/component-change.ts';
import type { UnitDefinition } from '../../host/port.ts';
import type { ComponentInput } from '../input.ts';
import type { Ends } from './builders.ts';

type Observed = Pick<ComponentInput, 'observed'>;

/** Returns the units of the goal that run by another definition. What is `existing` keeps its own, so it is not among them. */
export function foreignUnits({ observed }: Observed, { origin, goal }: Ends): readonly UnitDefinition[] {
  const ours = new Set(origin?.units.map(({ name }) => name));
  return (goal?.units ?? []).filter(({ name, existing }) => {
    const status = observed.units.get(name);
    const isRunning = status?.active === 'Active' || status?.active === 'Activating';
    return !existing && !ours.has(name) && status?.defined === false && isRunning;
  });
}

/** Returns the class of the change on this host. A unit that runs already is disturbed as declared, though it is new to the component. */
export function activationClass(input: Observed, ends: Ends): ActivationClass {
  const { class: found } = changeBetween(ends.origin, ends.goal);
  const declared = ends.goal?.activation ?? 'None';
  return foreignUnits(input, ends).length > 0 && isClassAtLeast(declared, found) ? declared : found;
}
