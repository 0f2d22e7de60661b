/** What a rule is once it is compiled, and what it is asked about. Plain data: no engine, no clock. */
import type { OPERATORS } from '../api/facts.ts';

export type Scalar = string | number | boolean;
export type Value = Scalar | readonly Scalar[];
export type Operator = (typeof OPERATORS)[number];

/** One fact with its parameters: what has to be read. */
export interface FactRef {
  readonly fact: string;
  readonly params: Readonly<Record<string, string | number>>;
  /** The same text for the same fact and parameters. */
  readonly key: string;
}

export interface Leaf {
  readonly ref: FactRef;
  readonly field: string;
  readonly operator: Operator;
  readonly value: Value;
}

/** Without negation, so a tree is monotone: more that holds never makes less of it hold. */
export type Tree = Leaf | { readonly all: readonly Tree[] } | { readonly any: readonly Tree[] };

/** What is known of one fact: field to value. A field that is absent is unknown. */
export type Reading = Readonly<Record<string, Value>>;

export const UNKNOWN_READING: Reading = Object.freeze({});

/** All that is known of one node now. */
export type Facts = (ref: FactRef) => Reading;

export type Truth = 'True' | 'False' | 'Unknown';
export const OUTCOMES = ['Match', 'NoMatch', 'Held', 'Indeterminate'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface RuleTest {
  readonly name: string;
  readonly expect: Outcome;
  readonly given: Facts;
  /** Where it stands, `spec.tests[2]`. */
  readonly path: string;
}

/** How old what we know may be: in seconds, in heartbeats of the agent, or as fresh as our own watch is. */
export type MaxAge = { readonly seconds: number } | { readonly heartbeats: number } | 'OurWatch';

export interface CompiledRule {
  readonly conditions: Tree;
  readonly gate?: Tree;
  /** Rung to what proves that it worked. */
  readonly verify: ReadonlyMap<string, Tree>;
  /** For each kind of fact that is read. */
  readonly maxAge: ReadonlyMap<string, MaxAge>;
  /** Each fact that conditions and gate read, once. */
  readonly reads: readonly FactRef[];
  readonly tests: readonly RuleTest[];
}

export function leavesOf(tree: Tree): readonly Leaf[] {
  if ('ref' in tree) return [tree];
  return ('all' in tree ? tree.all : tree.any).flatMap(leavesOf);
}

export function refsOf(trees: readonly Tree[]): readonly FactRef[] {
  const refs = trees.flatMap(leavesOf).map(({ ref }) => [ref.key, ref] as const);
  return [...new Map(refs).values()];
}
