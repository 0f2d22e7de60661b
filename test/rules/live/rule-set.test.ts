import { describe, expect, it } from 'vitest';
import type { CompiledRule } from '../../../src/rules/compiled-rule.ts';
import type { RuleResult } from '../../../src/rules/explain.ts';
import { createRuleSet } from '../../../src/rules/live/rule-set.ts';
import { type FactsBed, factsBed } from './facts-bed.ts';
import { hungFor, ruleOf } from './rules-bed.ts';

const NAMES = Array.from({ length: 100 }, (_, index) => `rule-${index}`);

/** 100 rules: every second one matches. */
function hundred(): Map<string, CompiledRule> {
  const [matches, not] = [ruleOf(hungFor(60)), ruleOf(hungFor(9000))];
  return new Map(NAMES.map((name, index) => [name, index % 2 ? not : matches]));
}

/** A rule that was compiled by something else than our compiler. */
function poisoned(): CompiledRule {
  const rule = ruleOf(hungFor(60));
  return {
    ...rule,
    conditions: { all: [{ ref: rule.reads[0], field: 'status', operator: 'explodes' }] },
  } as never;
}

async function hungBed(): Promise<FactsBed> {
  const bed = factsBed();
  bed.machine();
  bed.node({ FrequentTaskHung: 'True' });
  await bed.clock.advance(90_000);
  return bed;
}

function outcomes(results: ReadonlyMap<string, RuleResult>): readonly string[] {
  return [...results].map(([name, { outcome }]) => `${name} ${outcome}`);
}

describe('a set of rules', () => {
  it('R8 evaluates all rules, or those that are named', async () => {
    const bed = await hungBed();
    const set = createRuleSet({ rules: hundred(), facts: bed.live(), clock: bed.clock });
    expect(outcomes(await set.evaluate('n')).slice(0, 2)).toEqual(['rule-0 Match', 'rule-1 NoMatch']);
    const some = await set.evaluate('n', ['rule-7', 'deleted', 'rule-8']);
    expect(outcomes(some)).toEqual(['rule-7 NoMatch', 'rule-8 Match']);
  });

  it('R8 decides 99 rules as without the one that fails', async () => {
    const bed = await hungBed();
    const options = { facts: bed.live(), clock: bed.clock };
    const without = await createRuleSet({ ...options, rules: hundred() }).evaluate('n');
    const rules = hundred().set('rule-42', poisoned());
    const results = await createRuleSet({ ...options, rules }).evaluate('n');
    expect(results.get('rule-42')).toMatchObject({ outcome: 'Indeterminate' });
    expect(results.get('rule-42')?.because).toContain('the rule failed: ');
    const others = NAMES.filter((name) => name !== 'rule-42');
    expect(others.map((name) => results.get(name))).toEqual(others.map((name) => without.get(name)));
  });

  it('R1 decides Indeterminate when all facts of a node fail, and does not fail itself', async () => {
    const bed = await hungBed();
    bed.breakView('machines');
    const set = createRuleSet({
      rules: new Map([['a', ruleOf(hungFor(60))]]),
      facts: bed.live(),
      clock: bed.clock,
    });
    expect(outcomes(await set.evaluate('n'))).toEqual(['a Indeterminate']);
  });

  it('R8 lets timers run after each 10 ms of work', async () => {
    const bed = await hungBed();
    let reads = 0;
    let turns = 0;
    // Each read of the clock takes a millisecond.
    const clock = { monotonicMs: () => (reads += 1) };
    const set = createRuleSet({ rules: hundred(), facts: bed.live(), clock });
    const evaluated = set.evaluate('n');
    let isDone = false;
    const count = (): void => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await evaluated;
    isDone = true;
    expect(turns).toBeGreaterThanOrEqual(8);
  });
});
