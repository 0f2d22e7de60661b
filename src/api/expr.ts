/** The conditions of a rule: the strict subset of json-rules-engine. */

import { FACTS, OPERATORS } from './facts.ts';
import { FACT_PATH } from './patterns.ts';
import { anything, choice, foreign, list, named, type Rule, rules, type Schema, text } from './schema.ts';

/** `all` and `any` nest this deep. A CRD has no recursive schema, so the depth is written out. */
const DEPTH = 3;

const TYPE = 'Expr';
const DOC =
  'all, any, or a fact that is compared. There is no negation: unknown must never look like an answer.';

const leaf = {
  fact: choice('What is looked at.', FACTS),
  params: foreign('Which one of it, as {filesystem: imagefs}.'),
  path: text('Which field of it: $.field.', { max: 128, pattern: FACT_PATH }),
  operator: choice('How it is compared.', OPERATORS),
  value: anything('What it is compared with.'),
};

const ONE_OF_THREE: Rule = {
  rule: '[has(self.all), has(self.any), has(self.fact)].exists_one(x, x) && has(self.fact) == has(self.path) && has(self.fact) == has(self.operator)',
  message: 'give exactly one of all, any, and fact with path, operator and value',
};

export function expr(sentence: string, depth: number = DEPTH): Schema {
  // `value` is required with `fact`; CEL cannot see it, as it has no type.
  if (depth === 0) return named(TYPE, DOC, { ...leaf, params: leaf.params.optional() }).describe(sentence);
  const inner = list('', expr('One of them.', depth - 1), [1, 8]).optional();
  const fields = {
    all: inner.describe('All of these hold.'),
    any: inner.describe('At least one of these holds.'),
    fact: leaf.fact.optional(),
    params: leaf.params.optional(),
    path: leaf.path.optional(),
    operator: leaf.operator.optional(),
    value: leaf.value.optional(),
  };
  // When none fits, the server tells what the first lacks: of a leaf without an operator, the operator.
  const three = [['fact', 'path', 'operator', 'value'], ['all'], ['any']].map((required) => ({ required }));
  return rules(named(TYPE, DOC, fields).meta({ oneOf: three }), ONE_OF_THREE).describe(sentence);
}
