import { expect, it } from 'vitest';
import { schemaFindings } from '../../../../src/cli/commands/rules/schema-findings.ts';
import type { RenderProblem } from '../../../../src/sync/render/errors.ts';

const RULE = [
  'export const rule = {',
  '  rule: {',
  "    conditions: { fact: 'disk' },",
  '    gate: {},',
  '  },',
  '};',
];
const SOURCES = [
  { file: 'fleet/main.ts', text: 'gate: 1' },
  { file: 'rules/disk.ts', text: RULE.join('\n') },
];

function problem(message: string, construct: string): RenderProblem {
  return { message, file: 'fleet/main.ts', line: 19, construct };
}

function explain(...problems: readonly RenderProblem[]): readonly string[] {
  return schemaFindings(problems, SOURCES, 'the fleet').map(
    ({ where, rule, field, message }) => `${where} ${rule} ${field} ${message}`,
  );
}

it('shows a problem of a rule once, at the field in the file of the rule', () => {
  const message = 'NodeRemedier disk: spec.rule.gate.value: must be a number';
  expect(explain(problem(message, 'test/rules/rule-disk'), problem(message, 'prod/rules/rule-disk'))).toEqual(
    ['rules/disk.ts:4 disk spec.rule.gate.value must be a number'],
  );
});

it.each<[string, string, string]>([
  [
    'the nearest field around one that is missing',
    'NodeRemedier disk: spec.rule.conditions.all[1].operator: is required',
    'rules/disk.ts:3 disk spec.rule.conditions.all[1].operator is required',
  ],
  [
    'the file alone, where it has none of the fields',
    'NodeRemedier disk: spec.ladder[0].plan: is required',
    'rules/disk.ts:1 disk spec.ladder[0].plan is required',
  ],
  [
    'where its object is declared, for a rule without a file of its name',
    'NodeRemedier memory: spec.rule.gate: must be an object',
    'fleet/main.ts:19 memory spec.rule.gate must be an object',
  ],
  [
    'what is not about a rule as the render reports it',
    'Machine m-1: spec.zone: must be a text',
    'fleet/main.ts:19 (test/a) - - Machine m-1: spec.zone: must be a text',
  ],
])('names %s', (_, message, expected) => {
  expect(explain(problem(message, 'test/a'))).toEqual([expected]);
});
