/** Checks the dependencies between the units of one target: names that are missing or wrong, and cycles. Pure. */
import { ANNOTATION_DEPENDS_ON } from '../../api/names.ts';
import type { RenderedUnit } from '../rendered.ts';
import { findCycles } from './cycles.ts';
import { type UnitDependencies, unitDependencies } from './dependencies.ts';

export interface UnitOrderProblem {
  readonly unit: string;
  readonly message: string;
}

const MAX_LISTED = 5;
const MAX_CYCLE = 12;

export function unitOrderProblems(
  target: string,
  units: readonly RenderedUnit[],
): readonly UnitOrderProblem[] {
  const dependencies = unitDependencies(units);
  if (dependencies.size === 0) return [];
  const declared = new Set(units.map(({ unit }) => unit));
  return [...nameProblems(target, dependencies, declared), ...cycleProblems(dependencies)];
}

function nameProblems(
  target: string,
  dependencies: UnitDependencies,
  declared: ReadonlySet<string>,
): UnitOrderProblem[] {
  return [...dependencies].flatMap(([unit, names]) =>
    [...names].flatMap((name) => {
      const because = nameReason({ name, target }, declared);
      return because === undefined
        ? []
        : { unit, message: `${ANNOTATION_DEPENDS_ON} of unit ${unit}: ${because}` };
    }),
  );
}

function nameReason(
  { name, target }: { readonly name: string; readonly target: string },
  declared: ReadonlySet<string>,
): string | undefined {
  if (name === '') return 'expected names of units with commas between them, got an empty name: remove it';
  if (declared.has(name)) return undefined;
  const shown = JSON.stringify(name.length > 63 ? `${name.slice(0, 63)}…` : name);
  return `no unit ${shown} is declared for ${target}: use one of ${listSome([...declared])}, or declare it`;
}

function listSome(names: readonly string[]): string {
  const shown = names.toSorted().slice(0, MAX_LISTED).join(', ');
  return names.length > MAX_LISTED ? `${shown}, …` : shown;
}

function cycleProblems(dependencies: UnitDependencies): UnitOrderProblem[] {
  return findCycles(dependencies).map((cycle) => {
    const [unit = ''] = cycle;
    const shown = cycle.length > MAX_CYCLE ? [...cycle.slice(0, MAX_CYCLE), '…', unit] : [...cycle, unit];
    const message = `unit ${unit} waits for itself (${shown.join(' → ')}): remove one of these names from ${ANNOTATION_DEPENDS_ON}`;
    return { unit, message };
  });
}
