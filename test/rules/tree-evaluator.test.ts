/**
 * Pitfalls of json-rules-engine in our version, so that an upgrade that changes one fails here. Each test also shows that
 * our rules avoid the pitfall.
 */
import { createRequire } from 'node:module';
import { setImmediate, setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { Engine, type TopLevelCondition } from 'json-rules-engine';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { compileRule } from '../../src/rules/compile.ts';
import type { ConditionLeaf, ConditionTree, FactReader, Reading } from '../../src/rules/compiled-rule.ts';
import { createTreeEvaluator } from '../../src/rules/tree-evaluator.ts';
import { runs } from '../support/sweep-size.ts';
import { anyCondition, FIELDS } from './arbitrary-rules.ts';
import { referenceTruth } from './reference-logic.ts';
import { createRemedierSpec, REMOVED, STATUS, withLeaf } from './sample-rule.ts';

/** The path resolver of the engine, which it calls unless it has ours: its own dependency. */
const jsonPath = createRequire(createRequire(import.meta.url).resolve('json-rules-engine'))(
  'jsonpath-plus',
) as {
  JSONPath: (...args: readonly unknown[]) => unknown;
};

type Options = ConstructorParameters<typeof Engine>[1];

const lax: Options = { allowUndefinedFacts: true };
const A = { fact: 'a', operator: 'equal', value: 1 };
const HOLDS: ConditionLeaf = {
  ref: { fact: 'node', params: {}, key: 'node{}' },
  field: 'ageSeconds',
  operator: 'greaterThan',
  value: 5,
};

async function matches(
  conditions: unknown,
  facts: Record<string, unknown> = {},
  options?: Options,
): Promise<boolean> {
  const engine = new Engine([{ conditions: conditions as TopLevelCondition, event: { type: 'm' } }], options);
  return (await engine.run(facts)).events.length > 0;
}

function resolveLater(): Promise<number> {
  return setImmediate(1);
}

function refused(spec: unknown): boolean {
  return compileRule(spec).rule === undefined;
}

function known(reading: Reading): FactReader {
  return () => reading;
}

describe('json-rules-engine', () => {
  it.each<readonly [string, unknown]>([
    ['an empty all', { all: [] }],
    ['an empty any', { any: [] }],
  ])('matches %s; we refuse it', async (_, conditions) => {
    expect(await matches(conditions)).toBe(true);
    expect(refused(createRemedierSpec({ '/rule/conditions': conditions }))).toBe(true);
  });

  it('ignores one of all and any side by side; we refuse them', async () => {
    const no = { fact: 'a', operator: 'equal', value: 2 };
    expect(await matches({ all: [no], any: [A] }, { a: 1 })).toBe(true);
    expect(refused(createRemedierSpec({ '/rule/conditions': { all: [STATUS], any: [STATUS] } }))).toBe(true);
  });

  it.each<readonly [string, unknown]>([
    ['not', { not: A }],
    ['notEqual', { all: [{ ...A, operator: 'notEqual' }] }],
    ['notIn', { all: [{ ...A, operator: 'notIn', value: [1] }] }],
    ['not:equal', { all: [{ ...A, operator: 'not:equal' }] }],
  ])('matches unknown facts with %s; we have no negation', async (word, conditions) => {
    expect(await matches(conditions, {}, lax)).toBe(true);
    expect(
      refused(
        word === 'not'
          ? createRemedierSpec({ '/rule/conditions': conditions })
          : withLeaf({ operator: word }),
      ),
    ).toBe(true);
  });

  it('fails every rule of a run if a fact is missing; we always provide all facts', async () => {
    const engine = new Engine([
      { conditions: { all: [A] }, event: { type: 'good' } },
      { conditions: { all: [{ ...A, fact: 'missing' }] }, event: { type: 'bad' } },
    ]);
    await expect(engine.run({ a: 1 })).rejects.toThrow('missing');
    expect(await createTreeEvaluator(HOLDS)(known({}))).toBe('Unknown');
  });

  it('fails if a fact rejects, even inside any; we read facts before the run', async () => {
    const engine = new Engine([{ conditions: { any: [A, { ...A, fact: 'b' }] }, event: { type: 'm' } }]);
    engine.addFact('b', () => Promise.reject(new Error('no agent')));
    await expect(engine.run({ a: 1 })).rejects.toThrow('no agent');
  });

  it('accepts an unknown operator and fails when it runs; we refuse it', async () => {
    const conditions = { all: [{ ...A, operator: 'equals' }] };
    expect(() => new Engine([{ conditions, event: { type: 'm' } }])).not.toThrow();
    await expect(matches(conditions, { a: 1 })).rejects.toThrow('Unknown operator');
    expect(refused(withLeaf({ operator: 'equals' }))).toBe(true);
  });

  it.each<readonly [string, unknown, unknown, boolean]>([
    ['a string with a number', '9', 5, true],
    ['a string with a duration', '300s', 120, false],
    ['a number with a string', 9, '5', true],
  ])('compares mixed types: %s; our result is Unknown', async (_, fact, value, is) => {
    expect(await matches({ all: [{ fact: 'a', operator: 'greaterThan', value }] }, { a: fact })).toBe(is);
    const leaf = { ...HOLDS, value: value as number };
    expect(await createTreeEvaluator(leaf)(known({ ageSeconds: fact as number }))).toBe('Unknown');
  });

  it('searches a substring with in; we accept only lists', async () => {
    expect(await matches({ all: [{ fact: 'a', operator: 'in', value: 'not Ready' }] }, { a: 'Ready' })).toBe(
      true,
    );
    expect(refused(withLeaf({ operator: 'in', value: 'not Ready' }, STATUS))).toBe(true);
  });

  it('distinguishes true from "True"; we explain the difference', async () => {
    expect(await matches({ all: [{ ...A, value: true }] }, { a: 'True' })).toBe(false);
    expect(compileRule(withLeaf({ operator: 'equal', value: true }, STATUS)).problems[0]?.message).toContain(
      '"True"',
    );
  });

  it('calls a fact that is a function; for us a function is unknown', async () => {
    let calls = 0;
    const fact = (): number => (calls += 1);
    expect(await matches({ all: [A] }, { a: fact })).toBe(true);
    expect(calls).toBe(1);
    expect(await createTreeEvaluator(HOLDS)(known({ ageSeconds: fact as never }))).toBe('Unknown');
    expect(calls).toBe(1);
  });

  it('compares with another fact as value; we refuse it', async () => {
    expect(await matches({ all: [{ ...A, value: { fact: 'b' } }] }, { a: 1, b: 1 })).toBe(true);
    expect(refused(withLeaf({ value: { fact: 'node', path: '$.ageSeconds' } }))).toBe(true);
  });

  it('evaluates JSONPath with filters; our path is one own field', async () => {
    const leaf = { fact: 'a', path: '$.x[?(@.y > 1)].y', operator: 'contains', value: 2 };
    expect(await matches({ all: [leaf] }, { a: { x: [{ y: 2 }] } })).toBe(true);
    expect(refused(withLeaf({ path: '$.x[?(@.y > 1)].y' }))).toBe(true);
    const inherited = Object.create({ ageSeconds: 9 }) as Reading;
    expect(await createTreeEvaluator(HOLDS)(known(inherited))).toBe('Unknown');
    expect(await createTreeEvaluator(HOLDS)(known({ ageSeconds: 9 }))).toBe('True');
  });

  it('R7 never evaluates JSONPath for our rules', async () => {
    const asked: unknown[] = [];
    const { JSONPath } = jsonPath;
    jsonPath.JSONPath = (...args) => {
      asked.push(...args);
      return JSONPath(...args);
    };
    try {
      await matches({ all: [{ ...A, path: '$.x' }] }, { a: { x: 1 } });
      expect(asked.splice(0)).toHaveLength(1);
      const anyReading = fc.dictionary(fc.constantFrom(...FIELDS), fc.anything());
      await fc.assert(
        fc.asyncProperty(anyCondition, anyReading, async (conditions, reading) => {
          const changes = { '/rule/conditions': conditions, '/rule/maxAgeSeconds': REMOVED };
          const { rule } = compileRule(createRemedierSpec(changes));
          if (rule) await createTreeEvaluator(rule.conditions)(known(reading as Reading));
          expect([rule !== undefined, asked]).toEqual([true, []]);
        }),
        runs(100, 5000),
      );
    } finally {
      jsonPath.JSONPath = JSONPath;
    }
  });

  it('skips rules if two runs overlap on one engine', async () => {
    const rules = ['a', 'b', 'c'].map((type, index) => ({
      conditions: { all: [A] },
      event: { type },
      priority: 9 - index,
    }));
    const engine = new Engine(rules);
    const [quick, late] = await Promise.all([engine.run({ a: 1 }), engine.run({ a: resolveLater })]);
    expect(quick.events.map(({ type }) => type)).toEqual(['a', 'b', 'c']);
    // The end of the quick run stopped the other one silently.
    expect(late.events.map(({ type }) => type)).toEqual(['a']);
  });

  it('runs one evaluation at a time for us, each with its own facts', async () => {
    const judge = createTreeEvaluator({
      all: [HOLDS, { any: [HOLDS, { ...HOLDS, operator: 'equal', value: 3 }] }],
    });
    const asked = Array.from(
      { length: 50 },
      (_, index) => [{ ageSeconds: 9 }, {}, { ageSeconds: 3 }][index % 3] ?? {},
    );
    const answers = await Promise.all(asked.map((reading) => judge(known(reading))));
    expect(answers).toEqual(asked.map((_, index) => ['True', 'Unknown', 'False'][index % 3]));
  });

  it('blocks all timers during consecutive runs', async () => {
    const engine = new Engine([{ conditions: { all: [A] }, event: { type: 'm' } }]);
    let fired = false;
    const timer = setTimeout(1).then(() => (fired = true));
    for (let run = 0; run < 500; run += 1) await engine.run({ a: 1 });
    expect(fired).toBe(false);
    await timer;
  });
});

describe('createTreeEvaluator', () => {
  /** Each comparison of its own fact, so that all combinations of answers occur. */
  const leaves = Array.from({ length: 7 }, (_, index) => ({
    ...HOLDS,
    ref: { ...HOLDS.ref, key: `node{"n":${index}}` },
  }));
  const TREE: ConditionTree = {
    any: [{ all: leaves.slice(0, 4) }, { all: [{ any: leaves.slice(2, 5) }, ...leaves.slice(5)] }],
  };
  const READINGS: readonly Reading[] = [{ ageSeconds: 9 }, { ageSeconds: 3 }, {}];

  function combination(index: number): FactReader {
    return ({ key }) =>
      READINGS[Math.floor(index / 3 ** leaves.findIndex(({ ref }) => ref.key === key)) % 3] ?? {};
  }

  it('asks the engine once for each combination of answers', async () => {
    const run = vi.spyOn(Engine.prototype, 'run');
    onTestFinished(() => run.mockRestore());
    const judge = createTreeEvaluator({ all: [HOLDS] });
    const answers = [];
    for (const ageSeconds of [9, 6, 3, 5, 7]) answers.push(await judge(known({ ageSeconds })));
    expect(answers).toEqual(['True', 'True', 'False', 'False', 'True']);
    expect(run).toHaveBeenCalledTimes(2);
  });

  it('answers as three-valued logic does for all combinations, also for more than it remembers', async () => {
    const run = vi.spyOn(Engine.prototype, 'run');
    onTestFinished(() => run.mockRestore());
    const judge = createTreeEvaluator(TREE);
    for (const turn of [1, 2]) {
      for (let index = 0; index < 3 ** leaves.length; index += 1) {
        const facts = combination(index);
        const found = `${turn} ${index} ${await judge(facts)}`;
        expect(found).toBe(`${turn} ${index} ${referenceTruth(TREE, facts)}`);
      }
      // What was forgotten is decided again.
      expect(run.mock.calls.length).toBeGreaterThanOrEqual(turn * 3 ** leaves.length);
    }
  });
});
