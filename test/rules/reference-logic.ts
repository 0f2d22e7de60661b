/** A reference implementation of the three-valued logic, to compare the engine with. */
import type {
  ConditionLeaf,
  ConditionTree,
  FactReader,
  RuleOutcome,
  Truth,
} from '../../src/rules/compiled-rule.ts';

export function referenceTruth(tree: ConditionTree, facts: FactReader): Truth {
  if ('ref' in tree) return leafTruth(tree, facts);
  const truths = ('all' in tree ? tree.all : tree.any).map((inner) => referenceTruth(inner, facts));
  const decisive: Truth = 'all' in tree ? 'False' : 'True';
  if (truths.includes(decisive)) return decisive;
  if (truths.includes('Unknown')) return 'Unknown';
  return 'all' in tree ? 'True' : 'False';
}

export function referenceOutcome(conditions: Truth, gate: Truth | undefined): RuleOutcome {
  const table: Readonly<Record<Truth, (gate: Truth) => RuleOutcome>> = {
    False: () => 'NoMatch',
    Unknown: () => 'Indeterminate',
    True: (open) => (({ True: 'Match', False: 'Held', Unknown: 'Indeterminate' }) as const)[open],
  };
  return table[conditions](gate ?? 'True');
}

/** Readings in these tests have the right types, so plain comparisons are correct. */
function leafTruth({ ref, field, operator, value }: ConditionLeaf, facts: FactReader): Truth {
  const reading = facts(ref)[field];
  if (reading === undefined) return 'Unknown';
  const [a, b] = [Number(reading), Number(value)];
  const holds = {
    equal: reading === value,
    in: Array.isArray(value) && value.includes(reading),
    contains: Array.isArray(reading) && reading.includes(value),
    lessThan: a < b,
    lessThanInclusive: a <= b,
    greaterThan: a > b,
    greaterThanInclusive: a >= b,
  }[operator];
  return holds ? 'True' : 'False';
}
