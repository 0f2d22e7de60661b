/** What the compiler refuses: the tables in test/rules/readRefusedRows, values that YAML cannot express, and arbitrary input. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileRule } from '../../src/rules/compile.ts';
import { type Reading, RULE_OUTCOMES, UNKNOWN_READING } from '../../src/rules/compiled-rule.ts';
import { createRuleEvaluator } from '../../src/rules/rule-evaluator.ts';
import { runs } from '../support/sweep-size.ts';
import { anyCondition, anyJson, anyPointer, FIELDS } from './arbitrary-rules.ts';
import {
  createRemedierSpec,
  LEAF,
  LEAF_PATH,
  LEAVES,
  REMOVED,
  readRefusedRows,
  STATUS,
  withLeaf,
} from './sample-rule.ts';

type Changes = Readonly<Record<string, unknown>>;
type Row = readonly [name: string, change: Changes, where: string, message: string];

const NESTED = { all: [{ any: [{ all: [LEAF] }] }] };
const PARAMS = LEAF.params;
const RATE = { ...STATUS, path: '$.transitionsPerHour', operator: 'greaterThan', value: 2.5 };
const comparisons = readRefusedRows('comparisons');
const wholes = readRefusedRows('rules');

function many(count: number): object[] {
  return Array.from({ length: count }, () => LEAF);
}

function refusalsOf(spec: unknown): string[] {
  return compileRule(spec).problems.map(({ path, message }) => `${path}: ${message}`);
}

/** The only problem; undefined if there are more, which would be noise. */
function refusalOf(spec: unknown): { readonly at: string; readonly message: string } | undefined {
  const [problem, ...more] = compileRule(spec).problems;
  return problem && more.length === 0 ? { at: problem.path, message: problem.message } : undefined;
}

function refusal(at: string, message: string): unknown {
  return { at, message: expect.stringContaining(message) as string };
}

function changesOf({ change = {}, without }: (typeof comparisons)[number]): Changes {
  return { ...change, ...(without !== undefined && { [without]: REMOVED }) };
}

describe('compileRule', () => {
  it('accepts a rule with all features', () => {
    expect(refusalsOf(createRemedierSpec())).toEqual([]);
    const { rule } = compileRule(createRemedierSpec());
    expect(rule?.reads.map(({ key }) => key)).toEqual([
      'condition{"type":"FrequentTaskHung"}',
      'condition{"type":"Ready"}',
      'event{"reason":"TaskHung","windowSeconds":600}',
      'node{}',
      'history{"action":"Reboot","windowSeconds":86400}',
    ]);
    expect([...(rule?.verify.keys() ?? [])]).toEqual(['soft']);
    expect(Object.fromEntries(rule?.maxAge ?? [])).toEqual({
      condition: { seconds: 660 },
      event: { seconds: 120 },
      node: { seconds: 660 },
      history: 'OurWatch',
    });
  });

  const noGate = { '/tests/2/expect': 'Match' };
  it.each<readonly [string, Changes]>([
    ['a bare comparison as the root', { '/rule/conditions': STATUS }],
    ['three levels', { '/rule/conditions': { all: [...NESTED.all, STATUS] } }],
    ['32 comparisons', { '/rule/conditions': { all: [STATUS, ...many(3), ...sevens(4)] } }],
    ['no gate and no test for Held', { '/rule/gate': REMOVED, ...noGate }],
    ['null for omitted fields', { '/rule/gate': null, '/rule/maxAgeSeconds': null, ...noGate }],
    ['a fractional rate', { '/rule/conditions/all/1/any/0': RATE }],
    ['a value that only the schema refuses', { '/job': { ttlSeconds: 'x' } }],
    ['the longest reason', { '/rule/conditions/all/1/any/1/params/reason': 'A'.repeat(128) }],
    ['half a percent', { '/rule/conditions/all/1/any/1': { ...LEAVES['disk'], value: 80.5 } }],
    ['32 pools', { '/rule/conditions/all/1/any/1': pools(Array.from({ length: 32 }, (_, at) => `p${at}`)) }],
    ['the longest pool', { '/rule/conditions/all/1/any/1': pools(['p'.repeat(256)]) }],
    ['jobs that are kept for exactly the longest window', { '/job': { ttlSeconds: 86_400 } }],
    ['the shortest window', { '/rule/conditions/all/1/any/1/params/windowSeconds': 1 }],
    ['the longest window', { '/rule/conditions/all/1/any/1/params/windowSeconds': 86_400 }],
    ['half a second', { '/rule/gate/all/0/value': 0.5 }],
    ['the path of a mount', { '/rule/conditions/all/1/any/1': mount('/var/lib/..data') }],
  ])('accepts %s', (_, changes) => {
    expect(refusalsOf(createRemedierSpec(changes))).toEqual([]);
  });

  it.each(comparisons)('refuses a comparison with $it', (row) => {
    const spec = withLeaf(changesOf(row), LEAVES[row.from ?? 'event']);
    expect(refusalOf(spec)).toEqual(refusal(`${LEAF_PATH}.${row.at}`, row.message));
  });

  it.each<Row>([
    ['an infinite window', { params: { ...PARAMS, windowSeconds: Infinity } }, 'params.windowSeconds', ''],
    ['a long reason', { params: { ...PARAMS, reason: 'A'.repeat(200) } }, 'params.reason', '128'],
    ['a parameter called __proto__', { params: prototyped(PARAMS) }, 'params.__proto__', 'unknown parameter'],
    ['NaN', { value: Number.NaN }, 'value', 'must be a finite number'],
    ['infinity', { value: Infinity }, 'value', 'must be a finite number'],
    ['a function', { value: () => 5 }, 'value', 'must be a number, got function'],
    ['a big integer', { value: 5n }, 'value', 'must be a number, got bigint'],
    ['a very long list', { operator: 'in', value: many(33).map((_, at) => at) }, 'value', 'at most 32'],
  ])('refuses a comparison with %s', (_, change, where, message) => {
    expect(refusalOf(withLeaf(change))).toEqual(refusal(`${LEAF_PATH}.${where}`, message));
  });

  it('refuses a comparison with a very long string', () => {
    const spec = withLeaf({ path: '$.pool', operator: 'equal', value: 'p'.repeat(300) }, LEAVES['node']);
    expect(refusalOf(spec)).toEqual(refusal(`${LEAF_PATH}.value`, 'at most 256 characters'));
  });

  it.each(wholes)('refuses $it', (row) => {
    expect(refusalOf(createRemedierSpec(changesOf(row)))).toEqual(refusal(row.at, row.message));
  });

  const conditions = 'spec.rule.conditions';
  it.each<Row>([
    [
      'four levels',
      { '/rule/conditions': { any: [STATUS, NESTED] } },
      `${conditions}.any[1].all[0].any[0]`,
      'must not nest deeper than 3',
    ],
    ['a hole in a list', { '/rule/conditions/all/1': undefined }, `${conditions}.all[1]`, 'is required'],
    [
      'nine entries in all',
      { '/rule/conditions': { all: [STATUS, ...many(8)] } },
      `${conditions}.all`,
      'at most 8',
    ],
    ['33 comparisons', { '/rule/conditions': { all: [STATUS, ...eights(4)] } }, conditions, 'got 33'],
    [
      'an age of __proto__',
      { '/rule/maxAgeSeconds': prototyped({}) },
      'spec.rule.maxAgeSeconds.__proto__',
      'unknown fact',
    ],
  ])('refuses %s', (_, changes, where, message) => {
    expect(refusalOf(createRemedierSpec(changes))).toEqual(refusal(where, message));
  });

  it('R7 refuses more than 200 different invalid rules', () => {
    const all = [...comparisons, ...wholes].map((row) => JSON.stringify({ ...row, it: '' }));
    expect(new Set(all).size).toBe(all.length);
    expect(all.length).toBeGreaterThan(200);
  });

  it('requires proof by the new node after ReplaceMachine', () => {
    const messages = refusalsOf(createRemedierSpec({ '/ladder/0/plan/3/step': 'ReplaceMachine' }));
    expect(messages).toEqual([
      expect.stringContaining(
        'spec.ladder[0].verify.target: the old node cannot prove the success of ReplaceMachine',
      ),
    ]);
  });

  it('requires ReplaceMachine where the new node is the proof', () => {
    expect(refusalsOf(createRemedierSpec({ '/ladder/0/verify/target': 'Replacement' }))).toEqual([
      expect.stringContaining('spec.ladder[0].verify.target: Replacement needs the step ReplaceMachine'),
    ]);
  });

  it.each([undefined, null, 'x', 3, [], new Date(0), new Map()])('refuses %s instead of a rule', (spec) => {
    expect(compileRule(spec).rule).toBeUndefined();
    expect(compileRule(spec).problems.length).toBeGreaterThan(0);
  });

  it('reports all problems at once', () => {
    const changes = { '/rule/conditions/all/0/fact': 'x', '/rule/gate': {}, '/tests/0/expect': 'z' };
    const messages = compileRule(createRemedierSpec({ ...changes, '/ladder/1/plan/0/step': 'y' })).problems;
    expect(messages.map(({ path }) => path)).toEqual([
      'spec.rule.conditions.all[0].fact',
      'spec.rule.gate',
      'spec.ladder[1].plan[0].step',
      'spec.ladder[1].verify',
      'spec.ladder',
      'spec.tests[0].expect',
      'spec.tests',
    ]);
  });
});

// Three documents per run: a long run has a million.
describe('compileRule with arbitrary input', () => {
  it('R7 returns a rule or problems with path and message, and never throws', () => {
    fc.assert(
      fc.property(anyPointer, anyJson, fc.anything(), (pointer, changed, anything) => {
        for (const spec of [createRemedierSpec({ [pointer]: changed }), changed, anything]) {
          const { rule, problems } = compileRule(spec);
          expect(rule === undefined).toBe(problems.length > 0);
          for (const { path, message } of problems) expect(`${path}: ${message}`).toMatch(/^spec.*: ./s);
        }
      }),
      runs(1000, 340_000),
    );
  });

  it('R7 returns only rules that evaluate any reading without an error', async () => {
    const anyReading = fc.dictionary(fc.constantFrom(...FIELDS), fc.anything());
    await fc.assert(
      fc.asyncProperty(anyCondition, anyCondition, anyReading, async (conditions, gate, reading) => {
        const spec = createRemedierSpec({
          '/rule/conditions': conditions,
          '/rule/gate': gate,
          '/rule/maxAgeSeconds': REMOVED,
        });
        const { rule, problems } = compileRule(spec);
        expect(problems).toEqual([]);
        if (!rule) return;
        const evaluate = createRuleEvaluator(rule);
        expect(RULE_OUTCOMES).toContain((await evaluate(() => reading as Reading)).outcome);
        expect((await evaluate(() => UNKNOWN_READING)).outcome).toBe('Indeterminate');
      }),
      runs(200, 20_000),
    );
  });
});

function pools(value: readonly string[]): object {
  return { fact: 'node', path: '$.pool', operator: 'in', value };
}

function mount(filesystem: string): object {
  return { ...LEAVES['disk'], params: { filesystem } };
}

function sevens(count: number): object[] {
  return Array.from({ length: count }, () => ({ any: many(7) }));
}

function eights(count: number): object[] {
  return Array.from({ length: count }, () => ({ any: many(8) }));
}

/** With an own property __proto__, as from JSON.parse. */
function prototyped(object: object): object {
  return JSON.parse(
    JSON.stringify(object).replace(/}$/, `${Object.keys(object).length > 0 ? ',' : ''}"__proto__":1}`),
  ) as object;
}
