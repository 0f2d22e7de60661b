/** `src/api/generated/steps.ts`: the steps of a repair as plain tables and types, so that the agent needs no package. */
import type { StepDefinition } from '../steps/step.ts';
import { type GeneratedFile, HEADER } from './file.ts';
import { interfaces } from './interfaces.ts';
import { type JsonSchema, jsonSchemaOf, mapSchema, without } from './json-schema.ts';

/** For people and the API server; the validation of an input does not use them. */
const UNREAD = [
  'description',
  'x-kubenode-type',
  'x-kubenode-doc',
  'x-kubernetes-list-type',
] as const satisfies readonly (keyof JsonSchema)[];

const isOfAgent = ({ executor }: StepDefinition): boolean => executor === 'Agent';

/** `src/api/generated/agent-steps.ts`: in a file of its own, so that the program of the agent has no other steps. */
export function agentStepsFile(steps: readonly StepDefinition[]): GeneratedFile {
  const entries = steps.filter(isOfAgent).map(entryOf).join('');
  const text = [
    HEADER,
    `/** The steps that the agent of this release can carry out. */\nexport const AGENT_STEP_TABLE = {\n${entries}} as const;\n`,
  ].join('\n');
  return { path: 'src/api/generated/agent-steps.ts', text };
}

export function stepsFile(steps: readonly StepDefinition[]): GeneratedFile {
  const types = interfaces('stored');
  const inputs = steps.map(({ name, input }) => ({ name, type: types.typeOf(jsonSchemaOf(input)) }));
  const text = [
    HEADER,
    "import { AGENT_STEP_TABLE } from './agent-steps.ts';\n",
    `export const STEP_TABLE = {\n${steps.map(referenceOf).join('')}} as const;\n`,
    '/** What each step takes in `with`, with its defaults. */',
    `export interface StepInputs {\n${inputs.map(fieldOf).join('')}}\n`,
    ...[...types.texts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, type]) => type),
  ].join('\n');
  return { path: 'src/api/generated/steps.ts', text };
}

function entryOf({ name, description, input, ...facts }: StepDefinition): string {
  const schema = mapSchema(jsonSchemaOf(input), (part) => without(part, ...UNREAD));
  return `  /** ${description} */\n  ${name}: ${JSON.stringify({ ...facts, input: schema })},\n`;
}

function referenceOf(step: StepDefinition): string {
  return isOfAgent(step) ? `  ${step.name}: AGENT_STEP_TABLE.${step.name},\n` : entryOf(step);
}

function fieldOf({ name, type }: { readonly name: string; readonly type: string }): string {
  return `  readonly ${name}: ${type};\n`;
}
