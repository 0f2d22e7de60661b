/** What the compiler refuses: the tables in test/rules/refused, what YAML cannot say, and anything at all. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compile } from '../../src/rules/compile.ts';
import { evaluatorOf } from '../../src/rules/evaluator.ts';
import { OUTCOMES, type Reading, UNKNOWN_READING } from '../../src/rules/compiled-rule.ts';
import { LONG, runs } from '../support/long.ts';
import { anyCondition, anyJson, anyPointer, FIELDS } from './arbitrary-rules.ts';
import { GONE, LEAF, LEAF_PATH, LEAVES, refused, remedier, STATUS, withLeaf } from './sample-rule.ts';

type Changes = Readonly<Record<string, unknown>>;
type Row = readonly [name: string, change: Changes, where: string, says: string];

const NESTED = { all: [{ any: [{ all: [LEAF] }] }] };
const PARAMS = LEAF.params;
const RATE = { ...STATUS, path: '$.transitionsPerHour', operator: 'greaterThan', value: 2.5 };
const comparisons = refused('comparisons');
const wholes = refused('rules');

function many(count: number): object[] {
  return Array.from({ length: count }, () => LEAF);
}

function refusalsOf(spec: unknown): string[] {
  return compile(spec).problems.map(({ path, message }) => `${path}: ${message}`);
}

/** Exactly one objection: a second one would be noise, or a guess. */
function refusalOf(spec: unknown): { readonly at: string; readonly says: string } | undefined {
  const [problem, ...more] = compile(spec).problems;
  return problem && more.length === 0 ? { at: problem.path, says: problem.message } : undefined;
}

function refusal(at: string, says: string): unknown {
  return { at, says: expect.stringContaining(says) as string };
}

function changesOf({ change = {}, without }: (typeof comparisons)[number]): Changes {
  return { ...change, ...(without !== undefined && { [without]: GONE }) };
}

describe('compile', () => {
  it('takes a rule that uses all of the language', () => {
    expect(refusalsOf(remedier())).toEqual([]);
    const { rule } = compile(remedier());
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
    ['no gate, and no test for one', { '/rule/gate': GONE, ...noGate }],
    ['null for what is left out', { '/rule/gate': null, '/rule/maxAgeSeconds': null, ...noGate }],
    ['a rate that is no whole number', { '/rule/conditions/all/1/any/0': RATE }],
    ['what the schema refuses in words of its own', { '/job': { ttlSeconds: 'x' } }],
    ['the longest reason', { '/rule/conditions/all/1/any/1/params/reason': 'A'.repeat(128) }],
    ['half a percent', { '/rule/conditions/all/1/any/1': { ...LEAVES['disk'], value: 80.5 } }],
    ['32 pools', { '/rule/conditions/all/1/any/1': pools(Array.from({ length: 32 }, (_, at) => `p${at}`)) }],
    ['the longest pool', { '/rule/conditions/all/1/any/1': pools(['p'.repeat(256)]) }],
    ['jobs that are kept just long enough', { '/job': { ttlSeconds: 86_400 } }],
    ['the shortest window', { '/rule/conditions/all/1/any/1/params/windowSeconds': 1 }],
    ['the longest window', { '/rule/conditions/all/1/any/1/params/windowSeconds': 86_400 }],
    ['half a second', { '/rule/gate/all/0/value': 0.5 }],
    ['the path of a mount', { '/rule/conditions/all/1/any/1': mount('/var/lib/..data') }],
  ])('takes %s', (_, changes) => {
    expect(refusalsOf(remedier(changes))).toEqual([]);
  });

  it.each(comparisons)('refuses a comparison with $it', (row) => {
    const spec = withLeaf(changesOf(row), LEAVES[row.from ?? 'event']);
    expect(refusalOf(spec)).toEqual(refusal(`${LEAF_PATH}.${row.at}`, row.says));
  });

  it.each<Row>([
    ['a window without end', { params: { ...PARAMS, windowSeconds: Infinity } }, 'params.windowSeconds', ''],
    ['a reason that is a book', { params: { ...PARAMS, reason: 'A'.repeat(200) } }, 'params.reason', '128'],
    ['a parameter called __proto__', { params: prototyped(PARAMS) }, 'params.__proto__', 'no such parameter'],
    ['NaN', { value: Number.NaN }, 'value', 'must be a finite number'],
    ['infinity', { value: Infinity }, 'value', 'must be a finite number'],
    ['a function', { value: () => 5 }, 'value', 'must be a number, not function'],
    ['a big integer', { value: 5n }, 'value', 'must be a number, not bigint'],
    ['a very long list', { operator: 'in', value: many(33).map((_, at) => at) }, 'value', 'at most 32'],
  ])('refuses a comparison with %s', (_, change, where, says) => {
    expect(refusalOf(withLeaf(change))).toEqual(refusal(`${LEAF_PATH}.${where}`, says));
  });

  it('refuses a comparison with a very long text', () => {
    const spec = withLeaf({ path: '$.pool', operator: 'equal', value: 'p'.repeat(300) }, LEAVES['node']);
    expect(refusalOf(spec)).toEqual(refusal(`${LEAF_PATH}.value`, 'at most 256 characters'));
  });

  it.each(wholes)('refuses $it', (row) => {
    expect(refusalOf(remedier(changesOf(row)))).toEqual(refusal(row.at, row.says));
  });

  const conditions = 'spec.rule.conditions';
  it.each<Row>([
    [
      'four levels',
      { '/rule/conditions': { any: [STATUS, NESTED] } },
      `${conditions}.any[1].all[0].any[0]`,
      'nests deeper than 3',
    ],
    ['a hole in a list', { '/rule/conditions/all/1': undefined }, `${conditions}.all[1]`, 'not left out'],
    [
      'nine in a row',
      { '/rule/conditions': { all: [STATUS, ...many(8)] } },
      `${conditions}.all`,
      'at most 8',
    ],
    ['33 comparisons', { '/rule/conditions': { all: [STATUS, ...eights(4)] } }, conditions, 'has 33'],
    [
      'an age of a prototype',
      { '/rule/maxAgeSeconds': prototyped({}) },
      'spec.rule.maxAgeSeconds.__proto__',
      'no fact',
    ],
  ])('refuses %s', (_, changes, where, says) => {
    expect(refusalOf(remedier(changes))).toEqual(refusal(where, says));
  });

  it('knows more than 200 bad rules, no two alike', () => {
    const all = [...comparisons, ...wholes].map((row) => JSON.stringify({ ...row, it: '' }));
    expect(new Set(all).size).toBe(all.length);
    expect(all.length).toBeGreaterThan(200);
  });

  it('wants the new node looked at where the old one is replaced', () => {
    const said = refusalsOf(remedier({ '/ladder/0/plan/3/step': 'ReplaceMachine' }));
    expect(said).toEqual([
      expect.stringContaining('the step ReplaceMachine is not available in this version'),
      expect.stringContaining(
        'spec.ladder[0].verify.target: after ReplaceMachine the old node proves nothing',
      ),
    ]);
  });

  it.each([undefined, null, 'x', 3, [], new Date(0), new Map()])('refuses %s in place of a rule', (spec) => {
    expect(compile(spec).rule).toBeUndefined();
    expect(compile(spec).problems.length).toBeGreaterThan(0);
  });

  it('says all that is wrong at once', () => {
    const changes = { '/rule/conditions/all/0/fact': 'x', '/rule/gate': {}, '/tests/0/expect': 'z' };
    const said = compile(remedier({ ...changes, '/ladder/1/plan/0/step': 'y' })).problems;
    expect(said.map(({ path }) => path)).toEqual([
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

// Three documents a run: a long run is a million of them.
describe('compile, given anything', { timeout: LONG ? 3_600_000 : 60_000 }, () => {
  it('gives a rule or problems with a place and words, and never throws', () => {
    fc.assert(
      fc.property(anyPointer, anyJson, fc.anything(), (pointer, changed, anything) => {
        for (const spec of [remedier({ [pointer]: changed }), changed, anything]) {
          const { rule, problems } = compile(spec);
          expect(rule === undefined).toBe(problems.length > 0);
          for (const { path, message } of problems) expect(`${path}: ${message}`).toMatch(/^spec.*: ./s);
        }
      }),
      runs(1000, 340_000),
    );
  });

  it('lets nothing through that throws when it is asked, whatever was read', async () => {
    const anyReading = fc.dictionary(fc.constantFrom(...FIELDS), fc.anything());
    await fc.assert(
      fc.asyncProperty(anyCondition, anyCondition, anyReading, async (conditions, gate, reading) => {
        const spec = remedier({
          '/rule/conditions': conditions,
          '/rule/gate': gate,
          '/rule/maxAgeSeconds': GONE,
        });
        const { rule, problems } = compile(spec);
        expect(problems).toEqual([]);
        if (!rule) return;
        const evaluate = evaluatorOf(rule);
        expect(OUTCOMES).toContain((await evaluate(() => reading as Reading)).outcome);
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

/** As JSON.parse makes it: an own property of that name. */
function prototyped(object: object): object {
  return JSON.parse(
    JSON.stringify(object).replace(/}$/, `${Object.keys(object).length > 0 ? ',' : ''}"__proto__":1}`),
  ) as object;
}
