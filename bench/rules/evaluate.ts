/** Evaluates rules of a machine, and then lets the event loop turn: as a worker of the remedy controller does. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CompiledRule, RuleOutcome } from '../../src/rules/compiled-rule.ts';
import type { NodeFacts } from '../../src/rules/live/node-facts.ts';
import { createRuleEvaluator } from '../../src/rules/rule-evaluator.ts';

/** Of these rules, or of all. */
export type EvaluateRules = (machine: string, names?: readonly string[]) => Promise<readonly RuleOutcome[]>;

export function createEvaluateRules(
  rules: ReadonlyMap<string, CompiledRule>,
  facts: NodeFacts,
): EvaluateRules {
  const all = [...rules.keys()];
  const evaluators = new Map([...rules].map(([name, rule]) => [name, createRuleEvaluator(rule)]));
  return async (machine, names = all) => {
    const outcomes: RuleOutcome[] = [];
    for (const name of names) {
      const [rule, evaluate] = [rules.get(name), evaluators.get(name)];
      if (!rule || !evaluate) continue;
      // oxlint-disable-next-line no-await-in-loop -- as the controller does it
      outcomes.push((await evaluate(facts.read(machine, rule.maxAge))).outcome);
    }
    await nextTurn();
    return outcomes;
  };
}
