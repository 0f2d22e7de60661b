/** Decides the outcome of a rule from the truth of its trees, and explains it with the values that were read. Pure. */
import { ownValue } from '../kube/objects/json.ts';
import {
  type CompiledRule,
  type ConditionLeaf,
  type ConditionTree,
  type FactReader,
  type RuleOutcome,
  type Truth,
} from './compiled-rule.ts';
import { COMPARISONS, OPERATOR_PHRASES } from './operators.ts';

export interface RuleResult {
  readonly outcome: RuleOutcome;
  readonly because: string;
}

/** The gate is evaluated only if the conditions match: a closed gate never means that the fault has ended. */
export function decideOutcome(conditions: Truth, gate: Truth | undefined): RuleOutcome {
  if (conditions === 'False') return 'NoMatch';
  if (conditions === 'Unknown' || gate === 'Unknown') return 'Indeterminate';
  return gate === 'False' ? 'Held' : 'Match';
}

/** Lists the comparisons that decided: those that hold for a match, the unknown ones for Indeterminate. */
export function explainOutcome(
  rule: CompiledRule,
  conditions: Truth,
  gate: Truth | undefined,
  facts: FactReader,
): RuleResult {
  const outcome = decideOutcome(conditions, gate);
  const isGate = outcome === 'Held' || (outcome === 'Indeterminate' && conditions === 'True');
  return {
    outcome,
    // Most explanations are never read.
    get because() {
      const { lines } = explainTree(isGate && rule.gate ? rule.gate : rule.conditions, facts);
      return `${isGate ? 'gate: ' : ''}${lines.join('; ')}`;
    },
  };
}

export interface TruthReason {
  readonly truth: Truth;
  readonly lines: readonly string[];
}

/** Only for people: the engine decides. Lists the parts whose truth is that of the whole. */
function explainTree(tree: ConditionTree, facts: FactReader): TruthReason {
  if ('ref' in tree) return explainLeaf(tree, facts);
  const [parts, decisive]: [readonly ConditionTree[], Truth] =
    'all' in tree ? [tree.all, 'False'] : [tree.any, 'True'];
  const reasons = parts.map((part) => explainTree(part, facts));
  const hasTruth = (expected: Truth): boolean => reasons.some(({ truth }) => truth === expected);
  const opposite: Truth = decisive === 'True' ? 'False' : 'True';
  const truth = [decisive, 'Unknown' as const].find(hasTruth) ?? opposite;
  return { truth, lines: reasons.filter((one) => one.truth === truth).flatMap(({ lines }) => lines) };
}

/** One line: the value that was read, and of a leaf that does not hold what it had to be. */
export function explainLeaf(leaf: ConditionLeaf, facts: FactReader): TruthReason {
  const { ref, field, operator, value } = leaf;
  const truth = evaluateLeaf(leaf, facts);
  const name = [ref.fact, ...Object.values(ref.params), field].join(' ');
  if (truth === 'Unknown') return { truth, lines: [`${name} is unknown`] };
  const observed = `${name} is ${valueText(facts(ref)[field])}`;
  const expected = [OPERATOR_PHRASES[operator], JSON.stringify(value)].join(' ').trim();
  return { truth, lines: [truth === 'True' ? observed : `${observed}, not ${expected}`] };
}

/** A duration has more digits than a person reads. */
function valueText(value: unknown): string {
  return JSON.stringify(typeof value === 'number' ? Math.round(value * 1000) / 1000 : value);
}

function evaluateLeaf({ ref, field, operator, value }: ConditionLeaf, facts: FactReader): Truth {
  const reading = facts(ref);
  const fieldValue = ownValue(reading, field);
  const holds = COMPARISONS[operator](fieldValue, value);
  if (holds === undefined) return 'Unknown';
  return holds ? 'True' : 'False';
}
