/** Evaluates many rules for many nodes without blocking the event loop. A rule that fails affects no other. */
import type { CompiledRule } from '../compiled-rule.ts';
import type { RuleResult } from '../explain.ts';
import { createRuleEvaluator, type RuleEvaluator } from '../rule-evaluator.ts';
import type { NodeFacts } from './node-facts.ts';
import { createRuleIndex, type RuleIndex } from './rule-index.ts';

export interface RuleSet extends RuleIndex {
  /** Of these rules, or of all. A rule that fails is Indeterminate. */
  evaluate(machine: string, names?: readonly string[]): Promise<ReadonlyMap<string, RuleResult>>;
}

export interface RuleSetOptions {
  readonly rules: ReadonlyMap<string, CompiledRule>;
  readonly facts: NodeFacts;
  readonly clock: { monotonicMs(): number };
}

/** Promises alone run before every timer and every request: after so much work in a row those get their turn. */
const SLICE_MS = 10;

export function createRuleSet({ rules, facts, clock }: RuleSetOptions): RuleSet {
  const evaluators = new Map<string, RuleEvaluator>();
  const all = [...rules.keys()];
  let sliceStartMs = clock.monotonicMs();

  return {
    ...createRuleIndex(rules),
    evaluate: async (machine, names = all) => {
      const results = new Map<string, RuleResult>();
      for (const name of names) {
        const rule = rules.get(name);
        if (!rule) continue;
        // oxlint-disable no-await-in-loop -- so that timers run in between
        results.set(name, await evaluateRule(machine, name, rule));
        if (clock.monotonicMs() - sliceStartMs > SLICE_MS) await nextSlice();
        // oxlint-enable no-await-in-loop
      }
      return results;
    },
  };

  async function evaluateRule(machine: string, name: string, rule: CompiledRule): Promise<RuleResult> {
    try {
      const evaluate = evaluators.get(name) ?? createRuleEvaluator(rule);
      evaluators.set(name, evaluate);
      return await evaluate(facts.read(machine, rule.maxAge));
    } catch (error) {
      return { outcome: 'Indeterminate', because: `the rule failed: ${String(error)}` };
    }
  }

  async function nextSlice(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    sliceStartMs = clock.monotonicMs();
  }
}
