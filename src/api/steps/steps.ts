/** Describes the steps of a repair at run time. */
import { STEP_TABLE, type StepInputs } from '../generated/steps.ts';
import type { Problem } from '../validation/validate.ts';
import { OTHER_ACTION_RISKS, OTHER_ACTIONS, type OtherAction } from './actions.ts';
import { inputProblems, type StepEntry, withDefaults } from './input.ts';
import type { StepFacts } from './step.ts';

export type Step = keyof typeof STEP_TABLE;
/** The steps that the job controller of this release carries out. */
export type CentralStep = {
  [S in Step]: (typeof STEP_TABLE)[S] extends { readonly executor: 'Central' } ? S : never;
}[Step];
export type Action = Step | OtherAction;

const TABLE: Readonly<Record<Step, StepEntry>> = STEP_TABLE;

export const STEPS = Object.keys(STEP_TABLE) as readonly Step[];

export function isStep(word: unknown): word is Step {
  return typeof word === 'string' && Object.hasOwn(TABLE, word);
}

export function isAction(word: unknown): word is Action {
  return isStep(word) || (OTHER_ACTIONS as readonly unknown[]).includes(word);
}

/** Returns the highest risk that an act without a step can have: its asker may state a lower one. */
export function defaultRisk(action: Action): StepFacts['risk'] {
  return isStep(action) ? TABLE[action].risk : OTHER_ACTION_RISKS[action];
}

/** Returns the lowest risk that an act may state. That of a component update depends on what changes. */
export function leastRisk(action: Action): StepFacts['risk'] {
  return action === 'UpdateComponent' ? 'None' : defaultRisk(action);
}

export function stepEntry(step: Step): StepEntry {
  return TABLE[step];
}

/** Returns the form in which a job names a step: `Reboot@v1`. */
export function stepReference(step: Step): string {
  return `${step}@v${TABLE[step].version}`;
}

/** Returns the step; undefined when this release does not know it, or not in this version: an executor refuses it then. */
export function stepOfReference(reference: string): Step | undefined {
  const [name] = reference.split('@');
  return isStep(name) && stepReference(name) === reference ? name : undefined;
}

/** Returns what is wrong with the `with` of a step. Paths are relative to `with`. */
export function stepInputProblems(step: Step, input: unknown): readonly Problem[] {
  return inputProblems(TABLE[step].input, input);
}

/** Returns the input with its defaults. Only for input without problems. */
export function stepInput<S extends Step>(step: S, input: unknown): StepInputs[S] {
  return withDefaults(TABLE[step].input, input) as StepInputs[S];
}

/** Returns the step that reverses this one, with its input; undefined when no step does. */
export function undoOf(
  step: Step,
  input: unknown,
): { readonly step: Step; readonly with: object } | undefined {
  const { undo } = TABLE[step];
  if (undo === undefined || !isStep(undo.step)) return undefined;
  const own = Object.entries(withDefaults(TABLE[step].input, input) as object);
  const kept = own.filter(([field]) => undo.keep?.includes(field) === true);
  return { step: undo.step, with: { ...Object.fromEntries(kept), ...undo.with } };
}
