/** The same question, answered by the three-valued logic itself: slow to read in an engine, short here. */
import type { Facts, Leaf, Outcome, Tree, Truth } from '../../src/rules/compiled-rule.ts';

export function referenceTruth(tree: Tree, facts: Facts): Truth {
  if ('ref' in tree) return leafTruth(tree, facts);
  const truths = ('all' in tree ? tree.all : tree.any).map((inner) => referenceTruth(inner, facts));
  const decisive: Truth = 'all' in tree ? 'False' : 'True';
  if (truths.includes(decisive)) return decisive;
  if (truths.includes('Unknown')) return 'Unknown';
  return 'all' in tree ? 'True' : 'False';
}

export function referenceOutcome(conditions: Truth, gate: Truth | undefined): Outcome {
  const table: Readonly<Record<Truth, (gate: Truth) => Outcome>> = {
    False: () => 'NoMatch',
    Unknown: () => 'Indeterminate',
    True: (open) => (({ True: 'Match', False: 'Held', Unknown: 'Indeterminate' }) as const)[open],
  };
  return table[conditions](gate ?? 'True');
}

/** Readings in these tests are of the right types, so a plain comparison is right. */
function leafTruth({ ref, field, operator, value }: Leaf, facts: Facts): Truth {
  const said = facts(ref)[field];
  if (said === undefined) return 'Unknown';
  const [a, b] = [Number(said), Number(value)];
  const holds = {
    equal: said === value,
    in: Array.isArray(value) && value.includes(said),
    contains: Array.isArray(said) && said.includes(value),
    lessThan: a < b,
    lessThanInclusive: a <= b,
    greaterThan: a > b,
    greaterThanInclusive: a >= b,
  }[operator];
  return holds ? 'True' : 'False';
}
