/** Inputs of steps that are accepted and refused, from inputs.yaml. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Step } from '../../../src/api/steps/steps.ts';

export interface RefusedInput {
  readonly with: unknown;
  /** Relative to `with`. */
  readonly at: string;
  readonly message: string;
}

interface StepInputCases {
  readonly accepted: readonly object[];
  readonly refused: readonly RefusedInput[];
}

const cases = parse(readFileSync(join(import.meta.dirname, 'inputs.yaml'), 'utf8')) as Record<
  Step,
  StepInputCases
>;

export const stepsWithCases = Object.keys(cases) as readonly Step[];

export const acceptedInputs: readonly (readonly [Step, object])[] = stepsWithCases.flatMap((step) =>
  cases[step].accepted.map((input) => [step, input] as const),
);

export const refusedInputs: readonly (readonly [Step, RefusedInput])[] = stepsWithCases.flatMap((step) =>
  cases[step].refused.map((input) => [step, input] as const),
);
