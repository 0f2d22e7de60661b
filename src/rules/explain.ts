/** What a rule says, put together from what its trees say, and why: in words, with what was read. Pure. */
import { type CompiledRule, type Facts, type Leaf, type Outcome, type Tree, type Truth } from './compiled-rule.ts';
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
  const { lines } = reasonOf(isGate && rule.gate ? rule.gate : rule.conditions, facts);
  return { outcome, because: `${isGate ? 'the gate: ' : ''}${lines.join('; ')}` };
}

interface Reason {
  readonly truth: Truth;
  readonly lines: readonly string[];
}

/** Only for people: the engine decides. Of all and any, those parts count that say what the whole says. */
function reasonOf(tree: Tree, facts: Facts): Reason {
  if ('ref' in tree) return reasonOfLeaf(tree, facts);
  const [parts, decisive]: [readonly Tree[], Truth] =
    'all' in tree ? [tree.all, 'False'] : [tree.any, 'True'];
  const reasons = parts.map((part) => reasonOf(part, facts));
  const has = (wanted: Truth): boolean => reasons.some(({ truth }) => truth === wanted);
  const opposite: Truth = decisive === 'True' ? 'False' : 'True';
  const truth = [decisive, 'Unknown' as const].find(has) ?? opposite;
  return { truth, lines: reasons.filter((one) => one.truth === truth).flatMap(({ lines }) => lines) };
}

function reasonOfLeaf(leaf: Leaf, facts: Facts): Reason {
  const { ref, field, operator, value } = leaf;
  const truth = truthOfLeaf(leaf, facts);
  const name = [ref.fact, ...Object.values(ref.params), field].join(' ');
  if (truth === 'Unknown') return { truth, lines: [`${name} is unknown`] };
  const is = `${name} is ${JSON.stringify(facts(ref)[field])}`;
  const wanted = [WORDS[operator], JSON.stringify(value)].join(' ').trim();
  return { truth, lines: [truth === 'True' ? is : `${is}, not ${wanted}`] };
}

function truthOfLeaf({ ref, field, operator, value }: Leaf, facts: Facts): Truth {
  const reading = facts(ref);
  const said = Object.hasOwn(reading, field) ? reading[field] : undefined;
  const answer = COMPARISONS[operator](said, value);
  if (answer === undefined) return 'Unknown';
  return answer ? 'True' : 'False';
}
