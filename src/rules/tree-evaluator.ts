/**
 * Three-valued evaluation with a two-valued engine. A tree without negation is monotone, so it is evaluated twice. If it
 * holds with every unknown leaf taken as false, it is True. If it does not hold with every unknown leaf taken as true, it
 * is False. Otherwise it is Unknown.
 *
 * The truth of a tree depends on the answers of its comparisons only. The engine decides each combination of answers once: a run of it
 * copies all conditions, which took half of the time of a fleet's rules.
 *
 * The engine has pitfalls (see test/rules/tree-evaluator.test.ts). Therefore each engine has one tree and one run at a time, with
 * our own operators and path resolver, and no fact is undefined.
 */
import { Engine, type TopLevelCondition } from 'json-rules-engine';
import { OPERATORS } from '../api/facts.ts';
import {
  type ConditionLeaf,
  type ConditionTree,
  type FactReader,
  listFactRefs,
  listLeaves,
  type Reading,
  type Truth,
} from './compiled-rule.ts';
import { COMPARISONS } from './operators.ts';

/** The value of an unknown field; no operator compares it. */
const UNKNOWN = Symbol('unknown');

export type TreeEvaluator = (facts: FactReader) => Promise<Truth>;

/** Most trees have a handful of combinations. */
const MAX_REMEMBERED = 1000;

/** Expensive: create it once for each tree. */
export function createTreeEvaluator(tree: ConditionTree): TreeEvaluator {
  const refs = listFactRefs([tree]);
  const leaves = listLeaves(tree);
  const evaluatePessimistic = createEngineRun(tree, false);
  const evaluateOptimistic = createEngineRun(tree, true);
  const decided = new Map<string, Truth>();
  let last: Promise<unknown> = Promise.resolve();
  return async (facts) => {
    const known = Object.fromEntries(refs.map((ref) => [ref.key, facts(ref)]));
    const answers = leaves.map((leaf) => answerOf(leaf, known[leaf.ref.key])).join('');
    return decided.get(answers) ?? (await decideNext(answers, known));
  };

  /** Concurrent runs on one engine skip conditions, so each run waits for the one before, even if that failed. */
  async function decideNext(answers: string, known: Readonly<Record<string, Reading>>): Promise<Truth> {
    const answer = last.then(() => decide(known));
    last = answer.catch(() => undefined);
    const truth = await answer;
    if (decided.size >= MAX_REMEMBERED) decided.clear();
    decided.set(answers, truth);
    return truth;
  }

  async function decide(known: Readonly<Record<string, Reading>>): Promise<Truth> {
    const result = await evaluatePessimistic(known);
    if (result.holds) return 'True';
    if (!result.readUnknown) return 'False';
    return (await evaluateOptimistic(known)).holds ? 'Unknown' : 'False';
  }
}

/** Returns one letter for what the comparison finds: true, false or unknown. */
function answerOf({ field, operator, value }: ConditionLeaf, reading: Reading = {}): 't' | 'f' | 'u' {
  const answer = Object.hasOwn(reading, field) ? COMPARISONS[operator](reading[field], value) : undefined;
  if (answer === undefined) return 'u';
  return answer ? 't' : 'f';
}

/** False if a comparison that all others depend on does not hold. Then no engine has to run: most rules do not match most nodes. */
export function createPrecheck(tree: ConditionTree): (facts: FactReader) => boolean {
  const parts = 'all' in tree ? tree.all : [tree];
  const required = parts.filter((part) => 'ref' in part);
  return (facts) => required.every((leaf) => answerOf(leaf, facts(leaf.ref)) !== 'f');
}

interface EngineResult {
  readonly holds: boolean;
  readonly readUnknown: boolean;
}

function createEngineRun(
  tree: ConditionTree,
  unknownAs: boolean,
): (known: Readonly<Record<string, unknown>>) => Promise<EngineResult> {
  const engine = new Engine([{ conditions: toTopLevel(tree), event: { type: 'holds' } }], { pathResolver });
  let readUnknown = false;
  for (const name of OPERATORS) {
    engine.addOperator(name, (fact: unknown, value: Parameters<(typeof COMPARISONS)[typeof name]>[1]) => {
      const answer = fact === UNKNOWN ? undefined : COMPARISONS[name](fact, value);
      readUnknown ||= answer === undefined;
      return answer ?? unknownAs;
    });
  }
  return async (known) => {
    readUnknown = false;
    const { events } = await engine.run(known);
    return { holds: events.length > 0, readUnknown };
  };
}

/** Resolves `$.field` of a reading: own fields only. Never runs JSONPath, the default of the engine. */
function pathResolver(reading: object, path: string): unknown {
  const field = path.slice(2);
  return Object.hasOwn(reading, field) ? (reading as Readonly<Record<string, unknown>>)[field] : UNKNOWN;
}

type Nested = Extract<TopLevelCondition, { all: unknown }>['all'][number];

function toTopLevel(tree: ConditionTree): TopLevelCondition {
  return 'ref' in tree ? { all: [toNested(tree)] } : (toNested(tree) as TopLevelCondition);
}

/** Each combination of fact and parameters is a separate fact for the engine, so that it computes nothing. */
function toNested(tree: ConditionTree): Nested {
  if ('ref' in tree) {
    const { ref, field, operator, value } = tree;
    return { fact: ref.key, path: `$.${field}`, operator, value };
  }
  return 'all' in tree ? { all: tree.all.map(toNested) } : { any: tree.any.map(toNested) };
}
