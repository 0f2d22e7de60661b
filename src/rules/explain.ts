/** What a rule says, put together from what its trees say, and why: in words, with what was read. Pure. */
import {
  type CompiledRule,
  type Facts,
  type Leaf,
  leavesOf,
  type Outcome,
  type Tree,
  type Truth,
} from './model.ts';
import { COMPARISONS, WORDS } from './operators.ts';

export interface Answer {
  readonly outcome: Outcome;
  readonly because: string;
}

/** `gate` is not asked before the conditions match: a closed gate never means that the fault is gone. */
export function outcomeOf(conditions: Truth, gate: Truth | undefined): Outcome {
  if (conditions === 'False') return 'NoMatch';
  if (conditions === 'Unknown' || gate === 'Unknown') return 'Indeterminate';
  return gate === 'False' ? 'Held' : 'Match';
}

/** The comparisons that made it so: of a match those that hold, of an open question those that nobody can answer. */
export function answerOf(
  rule: CompiledRule,
  conditions: Truth,
  gate: Truth | undefined,
  facts: Facts,
): Answer {
  const outcome = outcomeOf(conditions, gate);
  const isGate = outcome === 'Held' || (outcome === 'Indeterminate' && conditions === 'True');
  const tree = isGate && rule.gate ? rule.gate : rule.conditions;
  const decisive: Truth = isGate ? (gate ?? 'Unknown') : conditions;
  const lines = linesOf(tree, facts).filter(({ truth }) => truth === decisive);
  return { outcome, because: `${isGate ? 'the gate: ' : ''}${lines.map(({ line }) => line).join('; ')}` };
}

function linesOf(tree: Tree, facts: Facts): readonly { readonly truth: Truth; readonly line: string }[] {
  return leavesOf(tree).map((leaf) => {
    const { ref, field, operator, value } = leaf;
    const truth = truthOfLeaf(leaf, facts);
    const said = facts(ref)[field];
    const wanted = [WORDS[operator], JSON.stringify(value)].join(' ').trim();
    const name = [ref.fact, ...Object.values(ref.params), field].join(' ');
    const is = truth === 'Unknown' ? 'is unknown' : `is ${JSON.stringify(said)}`;
    const line = { True: `${name} ${is}`, False: `${name} ${is}, not ${wanted}`, Unknown: `${name} ${is}` }[
      truth
    ];
    return { truth, line };
  });
}

function truthOfLeaf({ ref, field, operator, value }: Leaf, facts: Facts): Truth {
  const reading = facts(ref);
  const said = Object.hasOwn(reading, field) ? reading[field] : undefined;
  const answer = COMPARISONS[operator](said, value);
  if (answer === undefined) return 'Unknown';
  return answer ? 'True' : 'False';
}
