/** The conditions of a rule: the strict subset of json-rules-engine. */
import { FACTS, OPERATORS } from './facts.ts';
import { FACT_PATH } from './patterns.ts';
import { anything, type CelRule, choice, foreign, list, named, rules, type Schema, text } from './schema.ts';

/** Maximum nesting of `all` and `any`. A CRD schema cannot be recursive, so each level is written out. */
const DEPTH = 3;

const TYPE = 'Expr';
const DOC =
  'all, any, or a comparison of a fact. There is no negation: an unknown fact must never become a match.';

const leaf = {
  fact: choice('Fact that is read.', FACTS),
  params: foreign('Parameters of the fact, such as {filesystem: imagefs}.'),
  path: text('Field of the fact, as $.field.', { max: 128, pattern: FACT_PATH }),
  operator: choice('Operator that compares the field with the value.', OPERATORS),
  value: anything('Value that the field is compared with.'),
};

const ONE_OF_THREE: CelRule = {
  rule: '[has(self.all), has(self.any), has(self.fact)].exists_one(x, x) && has(self.fact) == has(self.path) && has(self.fact) == has(self.operator)',
  message: 'give exactly one of all, any, and fact with path, operator and value',
};

export function expr(sentence: string, depth: number = DEPTH): Schema {
  // `value` is required with `fact`. It has no type, so CEL cannot check that.
  if (depth === 0) return named(TYPE, DOC, { ...leaf, params: leaf.params.optional() }).describe(sentence);
  const inner = list('', expr('A condition.', depth - 1), [1, 8]).optional();
  const fields = {
    all: inner.describe('Conditions that must all be met.'),
    any: inner.describe('Conditions of which at least one must be met.'),
    fact: leaf.fact.optional(),
    params: leaf.params.optional(),
    path: leaf.path.optional(),
    operator: leaf.operator.optional(),
    value: leaf.value.optional(),
  };
  // When no branch matches, the server reports what the first one lacks, such as the operator of a comparison.
  const three = [['fact', 'path', 'operator', 'value'], ['all'], ['any']].map((required) => ({ required }));
  return rules(named(TYPE, DOC, fields).meta({ oneOf: three }), ONE_OF_THREE).describe(sentence);
}
