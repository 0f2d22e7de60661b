/** Types of a compiled rule and its input. Plain data: no engine, no clock. */
import type { OPERATORS } from '../api/facts.ts';

export type ScalarValue = string | number | boolean;
export type ComparisonValue = ScalarValue | readonly ScalarValue[];
export type ComparisonOperator = (typeof OPERATORS)[number];

/** The value of a parameter of a fact: a name, a number of seconds, or a list of codes. */
export type FactParamValue = string | number | readonly number[];

/** A fact with its parameters. */
export interface FactRef {
  readonly fact: string;
  readonly params: Readonly<Record<string, FactParamValue>>;
  /** Identifies the combination of fact and parameters. */
  readonly key: string;
}

export interface ConditionLeaf {
  readonly ref: FactRef;
  readonly field: string;
  readonly operator: ComparisonOperator;
  readonly value: ComparisonValue;
}

/** Has no negation, so it is monotone: a leaf that becomes true never makes the tree false. */
export type ConditionTree =
  | ConditionLeaf
  | { readonly all: readonly ConditionTree[] }
  | { readonly any: readonly ConditionTree[] };

/** The values of a fact by field. A missing field is unknown. */
export type Reading = Readonly<Record<string, ComparisonValue>>;

export const UNKNOWN_READING: Reading = Object.freeze({});

/** Reads the facts of one node, all of the same moment. */
export type FactReader = (ref: FactRef) => Reading;

export type Truth = 'True' | 'False' | 'Unknown';
export const RULE_OUTCOMES = ['Match', 'NoMatch', 'Held', 'Indeterminate'] as const;
export type RuleOutcome = (typeof RULE_OUTCOMES)[number];

export interface RuleTest {
  readonly name: string;
  readonly expect: RuleOutcome;
  readonly given: FactReader;
  /** `spec.tests[2]`. */
  readonly path: string;
}

/** The maximum age of a fact: in seconds, in heartbeats of the agent, or unlimited for facts read by our own watch. */
export type MaxAge = { readonly seconds: number } | { readonly heartbeats: number } | 'OurWatch';

export interface CompiledRule {
  readonly conditions: ConditionTree;
  readonly gate?: ConditionTree;
  /** The conditions that prove the success of a rung, by its name. */
  readonly verify: ReadonlyMap<string, ConditionTree>;
  /** By name of each fact that is read. */
  readonly maxAge: ReadonlyMap<string, MaxAge>;
  /** The distinct facts that conditions and gate read. */
  readonly reads: readonly FactRef[];
  readonly tests: readonly RuleTest[];
}

export function listLeaves(tree: ConditionTree): readonly ConditionLeaf[] {
  if ('ref' in tree) return [tree];
  return ('all' in tree ? tree.all : tree.any).flatMap(listLeaves);
}

export function listFactRefs(trees: readonly ConditionTree[]): readonly FactRef[] {
  const refs = trees.flatMap(listLeaves).map(({ ref }) => [ref.key, ref] as const);
  return [...new Map(refs).values()];
}
