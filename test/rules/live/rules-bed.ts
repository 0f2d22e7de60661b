/** Rules whose conditions are one tree. */
import { listAt, valueAt } from '../../../src/kube/objects/json.ts';
import { compileRule } from '../../../src/rules/compile.ts';
import type { CompiledRule, FactRef } from '../../../src/rules/compiled-rule.ts';
import { createRemedierSpec } from '../sample-rule.ts';

const TESTS = listAt(createRemedierSpec(), 'tests');

export interface LeafText {
  readonly fact: string;
  readonly params?: FactRef['params'];
  readonly path: string;
  readonly operator: string;
  readonly value: unknown;
}

/** `FrequentTaskHung` is True for at least that long. */
export function hungFor(seconds: number): readonly LeafText[] {
  const leaf = { fact: 'condition', params: { type: 'FrequentTaskHung' } };
  return [
    { ...leaf, path: '$.status', operator: 'equal', value: 'True' },
    { ...leaf, path: '$.observedSeconds', operator: 'greaterThanInclusive', value: seconds },
  ];
}

/** Its tests are those of another rule: they are not run here. */
export function ruleOf(
  all: readonly LeafText[],
  maxAgeSeconds?: Readonly<Record<string, number>>,
): CompiledRule {
  const rule = { conditions: { all }, ...(maxAgeSeconds && { maxAgeSeconds }) };
  const tests = TESTS.filter((each) => valueAt(each, 'expect') !== 'Held');
  const { rule: compiled, problems } = compileRule(createRemedierSpec({ '/rule': rule, '/tests': tests }));
  if (!compiled) throw new Error(problems.map(({ path, message }) => `${path} ${message}`).join('; '));
  return compiled;
}
