/** Checks the units of a target: their names, and what they depend on. Pure. */
import { type RenderedTarget, sourceText } from '../rendered.ts';
import { unitOrderProblems } from '../unit-order/problems.ts';
import type { Refusal } from './refusal.ts';

/** A unit name becomes a label value and part of a ConfigMap name. Dots are reserved for inventory scopes. */
const UNIT = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Returns the refusals of whole units. Each names the file of the first object of the unit. */
export function unitRefusals({ target, units }: RenderedTarget): Refusal[] {
  const message = 'the name of a unit (chart) must be 1 to 63 lower-case letters, digits and dashes';
  const misnamed = units.filter(({ unit }) => !UNIT.test(unit)).map(({ unit }) => ({ unit, message }));
  const sources = new Map(units.map(({ unit, objects }) => [unit, sourceText(objects[0]?.source ?? {})]));
  return [...misnamed, ...unitOrderProblems(target, units)].map((problem) => ({
    target,
    object: `unit ${problem.unit}`,
    source: sources.get(problem.unit) ?? '',
    ...problem,
  }));
}
