/**
 * Decides whether a first version is adopted: what the host runs is this version already, so it is recorded and placed without a restart. Under
 * Adopt a host that differs is left alone, until another version is desired. Pure.
 */
import type { UnitDefinition } from '../../host/port.ts';
import type { DriftKind, Transition } from '../../journal/record.ts';
import type { Target } from '../../target/target.ts';
import type { ComponentInput } from '../input.ts';
import type { ComponentPlan } from '../operation.ts';
import { fileDifference, isEnabledAs, swapActions } from '../placements.ts';
import { advance, componentWait, settle } from './builders.ts';

export interface AdoptionDifference {
  readonly subject: string;
  readonly kind: DriftKind;
  readonly because: string;
}

/** Undefined: the version is installed as on every other host. */
export function planAdoption(input: ComponentInput, transition: Transition): ComponentPlan | undefined {
  const goal = adoptedTarget(input, transition);
  if (!goal || !isFree(input)) return undefined;
  const differences = adoptionDifferences(goal, input);
  if (differences.length === 0) return adopt(input, goal);
  return isLeftAlone(input, goal) ? leaveAlone(input, transition, differences) : undefined;
}

/** Returns how the host differs from a version that is not installed because of it. */
export function openDifferences(input: ComponentInput): readonly AdoptionDifference[] {
  const { transition } = input.progress;
  const goal = transition?.step === 'Staged' ? adoptedTarget(input, transition) : undefined;
  return goal && isLeftAlone(input, goal) ? adoptionDifferences(goal, input) : [];
}

/** Returns the version to compare: the first one, of a component of which the host runs a unit. */
function adoptedTarget({ desired, observed }: ComponentInput, { from }: Transition): Target | undefined {
  if (desired.state !== 'Present' || desired.existingNode === undefined) return undefined;
  if (from !== undefined) return undefined;
  const runs = desired.target.units.some(({ name }) => observed.units.get(name)?.active === 'Active');
  return runs ? desired.target : undefined;
}

/** Nothing is placed on a machine that is held, or whose newest state is not known. */
function isFree({ brakes }: ComponentInput): boolean {
  return brakes.hold === 'None' && brakes.online && !brakes.jobRunning;
}

/** The version that the host was compared with first is never activated over it: the set has to move the component on. */
function isLeftAlone({ desired, progress: { comparedWith } }: ComponentInput, { id }: Target): boolean {
  const isAdopted = desired.state === 'Present' && desired.existingNode === 'Adopt';
  return isAdopted && (comparedWith === undefined || comparedWith === id);
}

function adopt(input: ComponentInput, goal: Target): ComponentPlan {
  const operations = swapActions(undefined, goal, input.observed);
  const because = 'the host runs this version already: it is adopted without a restart';
  return settle(input, { state: 'Committed', current: goal.id, because }, { operations });
}

function leaveAlone(
  input: ComponentInput,
  transition: Transition,
  differences: readonly AdoptionDifference[],
): ComponentPlan {
  const texts = differences.map(({ because }) => because).join('; ');
  if (input.progress.comparedWith === undefined) {
    const compared = { ...transition, comparedWith: transition.entry };
    return advance(input, [], { transition: compared, because: `the host is left as it is: ${texts}` });
  }
  return componentWait('HostDiffers', `the host is left as it is until another version is desired: ${texts}`);
}

export function adoptionDifferences(
  goal: Target,
  { observed }: Pick<ComponentInput, 'observed'>,
): readonly AdoptionDifference[] {
  const files = goal.files.flatMap((file): AdoptionDifference | [] => {
    const because = fileDifference(file, observed);
    if (because === undefined) return [];
    return { subject: file.path, kind: observed.files.has(file.path) ? 'Content' : 'Missing', because };
  });
  const links = (goal.artifact?.install ?? []).flatMap(({ from, to }): AdoptionDifference | [] =>
    observed.files.get(to)?.target === `${goal.directory}/${from}`
      ? []
      : {
          subject: to,
          kind: 'Content',
          because: `${to} is not a link to the file of version ${goal.version}`,
        },
  );
  const units = goal.units.flatMap((unit): AdoptionDifference | [] => {
    const { name } = unit;
    const because = unitReason(goal, unit, observed);
    return because === undefined ? [] : { subject: name, kind: 'Unit', because: `unit ${name} ${because}` };
  });
  return [...files, ...links, ...units];
}

function unitReason(
  goal: Target,
  unit: UnitDefinition,
  observed: ComponentInput['observed'],
): string | undefined {
  const status = observed.units.get(unit.name);
  if (!status) return 'is missing';
  if (!isEnabledAs(unit, status)) return unit.enabled ? 'is not enabled' : 'is enabled';
  if (unit.running !== (status.active === 'Active')) return unit.running ? 'does not run' : 'runs';
  return status.hostDifference ?? programReason(goal, unit, observed);
}

/** Compares what runs with the program of the artifact. A program that is not known is not the same. */
function programReason(
  { directory, version }: Target,
  { name, exec }: UnitDefinition,
  observed: ComponentInput['observed'],
): string | undefined {
  const program = exec?.argv[0] ?? '';
  if (!program.startsWith(`${directory}/`)) return undefined;
  const status = observed.units.get(name);
  return digestReason(status?.process?.programDigest, observed.programs.get(program)?.expected, version);
}

function digestReason(
  found: string | undefined,
  expected: string | undefined,
  version: string,
): string | undefined {
  if (expected === undefined || found === undefined) return 'runs a program that could not be compared';
  if (found === expected) return undefined;
  return `runs another program than version ${version}: SHA-256 ${found.slice(0, 12)}, not ${expected.slice(0, 12)}`;
}
