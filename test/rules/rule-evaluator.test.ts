/** Three-valued evaluation: compared with a reference, and as properties. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FACT_KINDS } from '../../src/rules/catalog.ts';
import { compileRule } from '../../src/rules/compile.ts';
import {
  type CompiledRule,
  type FactReader,
  listFactRefs,
  type Reading,
  UNKNOWN_READING,
} from '../../src/rules/compiled-rule.ts';
import { createRuleEvaluator } from '../../src/rules/rule-evaluator.ts';
import { runs } from '../support/sweep-size.ts';
import { anyCondition, scalarFor } from './arbitrary-rules.ts';
import { referenceOutcome, referenceTruth } from './reference-logic.ts';
import { createRemedierSpec, REMOVED } from './sample-rule.ts';

type Known = ReadonlyMap<string, Reading>;

const anyRule = fc
  .tuple(anyCondition, fc.option(anyCondition, { nil: undefined }))
  .map(([conditions, gate]) => {
    const gated = gate ? { '/rule/gate': gate } : { '/rule/gate': REMOVED, '/tests/2/expect': 'Match' };
    const { rule, problems } = compileRule(
      createRemedierSpec({ '/rule/conditions': conditions, '/rule/maxAgeSeconds': REMOVED, ...gated }),
    );
    if (!rule) throw new Error(JSON.stringify(problems));
    return rule;
  });

/** A rule with a reading for each of its facts, with some of the fields. */
const anyRuleWithFacts = anyRule.chain((rule) => {
  const readings = rule.reads.map(({ key, fact }) => {
    const fields = [...(FACT_KINDS.get(fact)?.fields ?? [])].map(
      ([name, field]) => [name, scalarFor(field)] as const,
    );
    return fc
      .record(Object.fromEntries(fields), { requiredKeys: [] })
      .map((reading) => [key, reading as Reading] as const);
  });
  return fc.tuple(...readings).map((known) => ({ rule, known: new Map(known) as Known }));
});

function factsOf(known: Known): FactReader {
  return ({ key }) => known.get(key) ?? UNKNOWN_READING;
}

function reference({ conditions, gate }: CompiledRule, facts: FactReader): string {
  return referenceOutcome(referenceTruth(conditions, facts), gate && referenceTruth(gate, facts));
}

describe('createRuleEvaluator', () => {
  it('R1 evaluates as three-valued logic does', async () => {
    const outcomes = new Set<string>();
    await fc.assert(
      fc.asyncProperty(anyRuleWithFacts, async ({ rule, known }) => {
        const { outcome } = await createRuleEvaluator(rule)(factsOf(known));
        expect(outcome).toBe(reference(rule, factsOf(known)));
        outcomes.add(outcome);
      }),
      runs(500, 10_000),
    );
    // The property is meaningful only if every outcome occurred.
    expect([...outcomes].toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
      'Held',
      'Indeterminate',
      'Match',
      'NoMatch',
    ]);
  });

  it('R1 changes only to Indeterminate if facts become unknown', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyRuleWithFacts,
        fc.array(fc.nat(), { minLength: 1 }),
        async ({ rule, known }, lost) => {
          const evaluate = createRuleEvaluator(rule);
          const before = await evaluate(factsOf(known));
          const after = await evaluate(factsOf(without(known, lost)));
          expect([before.outcome, 'Indeterminate']).toContain(after.outcome);
        },
      ),
      runs(500, 10_000),
    );
  });

  it('explains the outcome with the decisive comparisons only', async () => {
    const words = {
      Match: / is (?!unknown)[^,]*$/,
      NoMatch: /, not /,
      Held: /, not /,
      Indeterminate: / is unknown$/,
    };
    await fc.assert(
      fc.asyncProperty(anyRuleWithFacts, async ({ rule, known }) => {
        const { outcome, because } = await createRuleEvaluator(rule)(factsOf(known));
        const parts = because.replace(/^gate: /, '').split('; ');
        expect(parts.filter((part) => !words[outcome].test(part))).toEqual([]);
        const isOfGate = outcome === 'Held' || referenceTruth(rule.conditions, factsOf(known)) === 'True';
        expect(because.startsWith('gate: ')).toBe(isOfGate && outcome !== 'Match');
      }),
      runs(200, 5000),
    );
  });

  it('reads each fact at most once, and all of them unless one excludes a match', async () => {
    await fc.assert(
      fc.asyncProperty(anyRuleWithFacts, async ({ rule, known }) => {
        const asked: string[] = [];
        const { outcome } = await createRuleEvaluator(rule)((ref) => {
          asked.push(ref.key);
          return factsOf(known)(ref);
        });
        const { conditions, gate } = rule;
        const all = listFactRefs(gate ? [conditions, gate] : [conditions]).map(({ key }) => key);
        const needed = outcome === 'NoMatch' ? all.filter((key) => asked.includes(key)) : all;
        expect(asked.toSorted()).toEqual(needed.toSorted());
      }),
      runs(50, 500),
    );
  });

  it.each([
    [0, 'NoMatch', []],
    [undefined, 'Indeterminate', []],
    [9, 'Indeterminate', ['workload']],
  ] as const)(
    'R8 reads what only gates may read where the conditions match: age %s',
    async (age, outcome, read) => {
      const old = { fact: 'node', path: '$.ageSeconds', operator: 'greaterThan', value: 5 };
      const gate = { fact: 'workload', path: '$.blockers', operator: 'equal', value: 0 };
      const { rule } = compileRule(createRemedierSpec({ '/rule': { conditions: { any: [old] }, gate } }));
      if (!rule) throw new Error('the rule does not compile');
      const asked: string[] = [];
      const found = await createRuleEvaluator(rule)(({ fact }) => {
        asked.push(fact);
        return fact === 'node' && age !== undefined ? { ageSeconds: age } : {};
      });
      expect([found.outcome, asked.filter((fact) => fact !== 'node')]).toEqual([outcome, read]);
    },
  );
});

/** Removes one field or all fields of some readings. */
function without(known: Known, lost: readonly number[]): Known {
  const entries = [...known];
  return lost.reduce<Map<string, Reading>>((rest, number) => {
    const [key, reading] = entries[number % Math.max(1, entries.length)] ?? ['', UNKNOWN_READING];
    const fields = Object.entries(reading);
    const kept = fields.filter((_, index) => index !== number % (fields.length + 1));
    return rest.set(key, kept.length < fields.length ? Object.fromEntries(kept) : UNKNOWN_READING);
  }, new Map(known));
}
