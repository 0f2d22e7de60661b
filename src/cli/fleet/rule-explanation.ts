/** Explains what the rules answer on one node, and which values decided. Reads the facts that it receives, and nothing else. */
import type { NodeRemedier } from '../../api/generated/types.ts';
import { isSelected } from '../../kube/objects/selector.ts';
import { FACT_KINDS } from '../../rules/catalog.ts';
import { compileRule } from '../../rules/compile.ts';
import {
  type CompiledRule,
  type ConditionTree,
  type FactReader,
  listLeaves,
  type RuleOutcome,
  type Truth,
} from '../../rules/compiled-rule.ts';
import { explainLeaf } from '../../rules/explain.ts';
import { metricFact } from '../../rules/facts/metric.ts';
import type { LiveFacts } from '../../rules/live/live-facts.ts';
import { createRuleEvaluator } from '../../rules/rule-evaluator.ts';
import type { FactViewName } from '../../rules/views.ts';
import { fitTable, formatHanging } from '../../views/text/wrap.ts';

export interface LeafView {
  readonly of: 'conditions' | 'gate';
  readonly truth: Truth;
  readonly because: string;
}

export interface RuleView {
  readonly rule: string;
  readonly mode: string;
  /** The outcome. NotSelected: the target of the rule does not have the node. Refused: the rule does not compile. */
  readonly outcome: RuleOutcome | 'NotSelected' | 'Refused';
  readonly because: string;
  readonly leaves: readonly LeafView[];
}

export interface ExplainedNode {
  readonly machine: string;
  /** The labels of the Node and the Machine. */
  readonly labels: Readonly<Record<string, string>>;
  readonly facts: Pick<LiveFacts, 'read' | 'unknownReason'>;
}

export async function viewRule({ metadata, spec }: NodeRemedier, node: ExplainedNode): Promise<RuleView> {
  const head = { rule: metadata.name, mode: spec.mode };
  const { rule, problems } = compileRule(spec);
  if (!rule) {
    const because = problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
    return { ...head, outcome: 'Refused', because, leaves: [] };
  }
  const { nodeSelector, exclude } = spec.target;
  const isTarget = isSelected(nodeSelector, node.labels) && !(exclude && isSelected(exclude, node.labels));
  const facts = node.facts.read(node.machine, rule.maxAge);
  const { outcome, because } = await createRuleEvaluator(rule)(facts);
  const leaves = [
    ...viewLeaves('conditions', rule.conditions, { rule, facts, node }),
    ...(rule.gate ? viewLeaves('gate', rule.gate, { rule, facts, node }) : []),
  ];
  return isTarget
    ? { ...head, outcome, because: withReasons(because, outcome, leaves), leaves }
    : { ...head, outcome: 'NotSelected', because: 'spec.target does not select the node', leaves };
}

/** Returns the views of which these rules read the objects of all nodes. */
export function viewsReadWhole(remediers: readonly NodeRemedier[]): ReadonlySet<FactViewName> {
  return new Set(factsOf(remediers).flatMap((fact) => FACT_KINDS.get(fact)?.readsFleet ?? []));
}

export function isReadBy(fact: string, remediers: readonly NodeRemedier[]): boolean {
  return factsOf(remediers).includes(fact);
}

/** Returns the queries of Prometheus that the rules read. */
export function queriesReadBy(remediers: readonly NodeRemedier[]): readonly string[] {
  const reads = remediers.flatMap(({ spec }) => compileRule(spec).rule?.reads ?? []);
  return reads.filter(({ fact }) => fact === metricFact.name).map(({ params }) => String(params['query']));
}

function factsOf(remediers: readonly NodeRemedier[]): readonly string[] {
  return remediers.flatMap(({ spec }) => compileRule(spec).rule?.reads ?? []).map(({ fact }) => fact);
}

interface LeafInput {
  readonly rule: CompiledRule;
  readonly facts: FactReader;
  readonly node: ExplainedNode;
}

function viewLeaves(
  of: LeafView['of'],
  tree: ConditionTree,
  { rule, facts, node }: LeafInput,
): readonly LeafView[] {
  return listLeaves(tree).map((leaf) => {
    const { truth, lines } = explainLeaf(leaf, facts);
    const reason = truth === 'Unknown' && node.facts.unknownReason(node.machine, leaf.ref, rule.maxAge);
    return { of, truth, because: [...lines, ...(reason ? [reason] : [])].join(': ') };
  });
}

/** Adds why the unknown facts are unknown, each reason once. */
function withReasons(because: string, outcome: RuleOutcome, leaves: readonly LeafView[]): string {
  if (outcome !== 'Indeterminate') return because;
  const unknown = leaves.filter(
    ({ truth, because: text }) => truth === 'Unknown' && text.includes(' is unknown: '),
  );
  const reasons = unknown.map((leaf) => leaf.because.slice(leaf.because.indexOf(' is unknown: ') + 13));
  return [because, ...new Set(reasons)].join('; ');
}

/** The order of the outcomes: rules that act or may act come first. */
const ORDER: readonly RuleView['outcome'][] = [
  'Match',
  'Held',
  'Indeterminate',
  'Refused',
  'NoMatch',
  'NotSelected',
];

export function sortViews(views: readonly RuleView[]): readonly RuleView[] {
  return views.toSorted((a, b) => ORDER.indexOf(a.outcome) - ORDER.indexOf(b.outcome));
}

export function formatRules(views: readonly RuleView[], columns: number): string {
  return fitTable(
    {
      columns: ['rule', 'mode', 'outcome', 'why'],
      rows: sortViews(views).map(({ rule, mode, outcome, because }) => [rule, mode, outcome, because]),
      empty: 'no rules: the cluster has no NodeRemedier',
    },
    columns,
  );
}

const MARKS: Readonly<Record<Truth, string>> = { True: 'yes', False: 'no', Unknown: '?' };

/** Formats every comparison of one rule, whether it decided or not. */
export function formatLeaves({ leaves }: RuleView, columns: number): string {
  return leaves
    .map(({ of, truth, because }, index) => {
      const group = of === leaves[index - 1]?.of ? '' : of;
      return formatHanging(`${group.padEnd(12)}${MARKS[truth].padEnd(5)}`, because, columns);
    })
    .join('');
}
