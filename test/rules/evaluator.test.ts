/** Unknown is neither yes nor no, whatever the rule: against a reference, and as a promise of its own. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FACT_KINDS } from '../../src/rules/catalog.ts';
import { compile } from '../../src/rules/compile.ts';
import { evaluatorOf } from '../../src/rules/evaluator.ts';
import { outcomeOf } from '../../src/rules/explain.ts';
import {
  type CompiledRule,
  type Facts,
  type Reading,
  refsOf,
  type Truth,
  UNKNOWN_READING,
} from '../../src/rules/compiled-rule.ts';
import { LONG, runs } from '../support/long.ts';
import { anyCondition, scalarFor } from './arbitrary-rules.ts';
import { referenceOutcome, referenceTruth } from './reference-logic.ts';
import { GONE, remedier } from './sample-rule.ts';

type Known = ReadonlyMap<string, Reading>;

const anyRule = fc
  .tuple(anyCondition, fc.option(anyCondition, { nil: undefined }))
  .map(([conditions, gate]) => {
    const gated = gate ? { '/rule/gate': gate } : { '/rule/gate': GONE, '/tests/2/expect': 'Match' };
    const { rule, problems } = compile(
      remedier({ '/rule/conditions': conditions, '/rule/maxAgeSeconds': GONE, ...gated }),
    );
    if (!rule) throw new Error(JSON.stringify(problems));
    return rule;
  });

/** For each fact that the rule reads, some of its fields. */
const anyWorld = anyRule.chain((rule) => {
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

function factsOf(known: Known): Facts {
  return ({ key }) => known.get(key) ?? UNKNOWN_READING;
}

function reference({ conditions, gate }: CompiledRule, facts: Facts): string {
  return referenceOutcome(referenceTruth(conditions, facts), gate && referenceTruth(gate, facts));
}

describe('an answer', { timeout: LONG ? 3_600_000 : 60_000 }, () => {
  it('is that of three-valued logic', async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(anyWorld, async ({ rule, known }) => {
        const { outcome } = await evaluatorOf(rule)(factsOf(known));
        expect(outcome).toBe(reference(rule, factsOf(known)));
        seen.add(outcome);
      }),
      runs(500, 10_000),
    );
    // A sweep that never met one of the answers would prove little.
    expect([...seen].toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
      'Held',
      'Indeterminate',
      'Match',
      'NoMatch',
    ]);
  });

  it('never turns from yes to no, or from no to yes, because less is known', async () => {
    await fc.assert(
      fc.asyncProperty(anyWorld, fc.array(fc.nat(), { minLength: 1 }), async ({ rule, known }, lost) => {
        const evaluate = evaluatorOf(rule);
        const before = await evaluate(factsOf(known));
        const after = await evaluate(factsOf(without(known, lost)));
        expect([before.outcome, 'Indeterminate']).toContain(after.outcome);
      }),
      runs(500, 10_000),
    );
  });

  it('says what made it so, and nothing that did not', async () => {
    const words = {
      Match: / is (?!unknown)[^,]*$/,
      NoMatch: /, not /,
      Held: /, not /,
      Indeterminate: / is unknown$/,
    };
    await fc.assert(
      fc.asyncProperty(anyWorld, async ({ rule, known }) => {
        const { outcome, because } = await evaluatorOf(rule)(factsOf(known));
        const parts = because.replace(/^the gate: /, '').split('; ');
        expect(parts.filter((part) => !words[outcome].test(part))).toEqual([]);
        const isOfGate = outcome === 'Held' || referenceTruth(rule.conditions, factsOf(known)) === 'True';
        expect(because.startsWith('the gate: ')).toBe(isOfGate && outcome !== 'Match');
      }),
      runs(200, 5000),
    );
  });

  it('reads each fact once, and all that it says is about that', async () => {
    await fc.assert(
      fc.asyncProperty(anyWorld, async ({ rule, known }) => {
        const asked: string[] = [];
        await evaluatorOf(rule)((ref) => {
          asked.push(ref.key);
          return factsOf(known)(ref);
        });
        const { conditions, gate } = rule;
        expect(asked).toEqual(refsOf(gate ? [conditions, gate] : [conditions]).map(({ key }) => key));
      }),
      runs(50, 500),
    );
  });
});

describe('outcomeOf', () => {
  it.each<readonly [conditions: Truth, gate: Truth | undefined, outcome: string]>([
    ['True', undefined, 'Match'],
    ['True', 'True', 'Match'],
    ['True', 'False', 'Held'],
    ['True', 'Unknown', 'Indeterminate'],
    ['False', undefined, 'NoMatch'],
    ['False', 'False', 'NoMatch'],
    ['False', 'Unknown', 'NoMatch'],
    ['Unknown', undefined, 'Indeterminate'],
    ['Unknown', 'True', 'Indeterminate'],
    ['Unknown', 'False', 'Indeterminate'],
  ])('of conditions that are %s and a gate that is %s is %s', (conditions, gate, outcome) => {
    expect(outcomeOf(conditions, gate)).toBe(outcome);
  });
});

/** Some readings lose a field, or all of them. */
function without(known: Known, lost: readonly number[]): Known {
  const entries = [...known];
  return lost.reduce<Map<string, Reading>>((rest, number) => {
    const [key, reading] = entries[number % Math.max(1, entries.length)] ?? ['', UNKNOWN_READING];
    const fields = Object.entries(reading);
    const kept = fields.filter((_, index) => index !== number % (fields.length + 1));
    return rest.set(key, kept.length < fields.length ? Object.fromEntries(kept) : UNKNOWN_READING);
  }, new Map(known));
}
