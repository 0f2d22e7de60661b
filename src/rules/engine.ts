/**
 * Three answers from an engine that knows two. A tree without negation is monotone: with every unknown leaf taken for no it
 * says yes only if it must, with every one taken for yes it says no only if it must.
 *
 * The engine has traps (test/rules/engine.test.ts keeps them): so one tree an engine, one run at a time, our own
 * operators and path resolver, and no fact that is undefined.
 */
import { Engine, type TopLevelCondition } from 'json-rules-engine';
import { OPERATORS } from '../api/facts.ts';
import { type Facts, refsOf, type Tree, type Truth } from './compiled-rule.ts';
import { COMPARISONS } from './operators.ts';

/** What the resolver gives for a field that nobody knows; no operator answers for it. */
const UNKNOWN = Symbol('unknown');

export type Judge = (facts: Facts) => Promise<Truth>;

/** Costly: make it once for a tree, and keep it. */
export function judgeOf(tree: Tree): Judge {
  const refs = refsOf([tree]);
  const least = oneRuleEngine(tree, false);
  const most = oneRuleEngine(tree, true);
  let last: Promise<unknown> = Promise.resolve();
  // Two runs at once on one engine skip conditions: each waits for the one before, whatever became of that.
  return (facts) => {
    const known = Object.fromEntries(refs.map((ref) => [ref.key, facts(ref)]));
    const answer = last.then(() => decide(known));
    last = answer.catch(() => undefined);
    return answer;
  };

  async function decide(known: Readonly<Record<string, unknown>>): Promise<Truth> {
    const sure = await least(known);
    if (sure.holds) return 'True';
    if (!sure.metUnknown) return 'False';
    return (await most(known)).holds ? 'Unknown' : 'False';
  }
}

interface Run {
  readonly holds: boolean;
  readonly metUnknown: boolean;
}

function oneRuleEngine(
  tree: Tree,
  unknownIs: boolean,
): (known: Readonly<Record<string, unknown>>) => Promise<Run> {
  const engine = new Engine([{ conditions: topLevel(tree), event: { type: 'holds' } }], { pathResolver });
  let metUnknown = false;
  for (const name of OPERATORS) {
    engine.addOperator(name, (fact: unknown, value: Parameters<(typeof COMPARISONS)[typeof name]>[1]) => {
      const answer = fact === UNKNOWN ? undefined : COMPARISONS[name](fact, value);
      metUnknown ||= answer === undefined;
      return answer ?? unknownIs;
    });
  }
  return async (known) => {
    metUnknown = false;
    const { events } = await engine.run(known);
    return { holds: events.length > 0, metUnknown };
  };
}

/** `$.field` of what was read: own fields only. JSONPath, which is the engine's own way, is never run. */
function pathResolver(reading: object, path: string): unknown {
  const field = path.slice(2);
  return Object.hasOwn(reading, field) ? (reading as Readonly<Record<string, unknown>>)[field] : UNKNOWN;
}

type Nested = Extract<TopLevelCondition, { all: unknown }>['all'][number];

function topLevel(tree: Tree): TopLevelCondition {
  return 'ref' in tree ? { all: [nested(tree)] } : (nested(tree) as TopLevelCondition);
}

/** Each fact with its parameters is a fact of its own to the engine: nothing is computed in a run. */
function nested(tree: Tree): Nested {
  if ('ref' in tree) {
    const { ref, field, operator, value } = tree;
    return { fact: ref.key, path: `$.${field}`, operator, value };
  }
  return 'all' in tree ? { all: tree.all.map(nested) } : { any: tree.any.map(nested) };
}
