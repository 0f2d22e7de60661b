/** How a repair step is declared: what it may disrupt, who carries it out, what reverses it and which input it takes in `with`. */
import type { Risk } from '../enums.ts';
import { type Fields, named, type Schema } from '../schema.ts';

export interface StepFacts {
  readonly risk: Risk;
  /** Agent: the agent of the machine. Central: the job controller. The values of `spec.plan[].executor` of a job. */
  readonly executor: 'Agent' | 'Central';
  /** Returns the machine to service, so budgets, rates and breakers never delay it. */
  readonly recovery?: true;
  readonly undo?: StepUndo;
  /** Increases when the meaning of `with` changes; a job names it as `Reboot@v1`. */
  readonly version: number;
}

/** The step that reverses another one, and its input. */
export interface StepUndo {
  readonly step: string;
  /** Fields that it copies from the input of the step that it reverses. */
  readonly keep?: readonly string[];
  /** Fixed input. */
  readonly with?: Readonly<Record<string, unknown>>;
}

export interface StepDefinition extends StepFacts {
  readonly name: string;
  readonly description: string;
  /** Schema of `with`. */
  readonly input: Schema;
}

type Declared = Pick<StepFacts, 'risk' | 'executor'> & Partial<StepFacts>;

export function step(name: string, description: string, facts: Declared, input: Fields = {}): StepDefinition {
  return {
    name,
    description,
    version: 1,
    ...facts,
    input: named(`${name}Input`, `Input of the step ${name}.`, input),
  };
}
