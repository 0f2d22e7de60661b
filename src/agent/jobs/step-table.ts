/**
 * Lists the steps of a repair that the agent of this release can carry out. The agent imports no other, because its program is to be small.
 */
import { AGENT_STEP_TABLE } from '../../api/generated/agent-steps.ts';
import type { StepInputs } from '../../api/generated/steps.ts';
import { inputProblems, type StepEntry, withDefaults } from '../../api/steps/input.ts';
import type { StepFacts } from '../../api/steps/step.ts';
import type { Problem } from '../../api/validation/validate.ts';

export type StepOfAgent = keyof typeof AGENT_STEP_TABLE;

const TABLE: Readonly<Record<StepOfAgent, StepEntry>> = AGENT_STEP_TABLE;

/** Returns the step; undefined when the agent does not carry it out, or not in this version: it refuses it then. */
export function agentStepOfReference(reference: string): StepOfAgent | undefined {
  const [name = ''] = reference.split('@');
  return isStepOfAgent(name) && `${name}@v${TABLE[name].version}` === reference ? name : undefined;
}

function isStepOfAgent(name: string): name is StepOfAgent {
  return Object.hasOwn(TABLE, name);
}

/** Returns the risk of a step. A step that an agent of another version began may disturb the machine. */
export function agentStepRisk(step: string): StepFacts['risk'] {
  return isStepOfAgent(step) ? TABLE[step].risk : 'Machine';
}

/** Returns what is wrong with the `with` of a step. Paths are relative to `with`. */
export function agentStepProblems(step: StepOfAgent, input: unknown): readonly Problem[] {
  return inputProblems(TABLE[step].input, input);
}

/** Returns the input with its defaults. Only for input without problems. */
export function agentStepInput<S extends StepOfAgent>(step: S, input: unknown): StepInputs[S] {
  return withDefaults(TABLE[step].input, input) as StepInputs[S];
}
