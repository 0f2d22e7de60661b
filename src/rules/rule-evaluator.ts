/** Evaluates a compiled rule for a node. */
import { type CompiledRule, type FactReader, UNKNOWN_READING } from './compiled-rule.ts';
import { explainOutcome, type RuleResult } from './explain.ts';
import { createTreeEvaluator } from './tree-evaluator.ts';

export type RuleEvaluator = (facts: FactReader) => Promise<RuleResult>;

/** Creates the engines of the rule once. Each evaluation reads every fact once, because facts can change meanwhile. */
export function createRuleEvaluator(rule: CompiledRule): RuleEvaluator {
  const conditions = createTreeEvaluator(rule.conditions);
  const gate = rule.gate ? createTreeEvaluator(rule.gate) : undefined;
  return async (facts) => {
    const known = readOnce(rule, facts);
    const conditionsTruth = await conditions(known);
    const gateTruth = conditionsTruth === 'True' ? await gate?.(known) : undefined;
    return explainOutcome(rule, conditionsTruth, gateTruth, known);
  };
}

function readOnce({ reads }: CompiledRule, facts: FactReader): FactReader {
  const readings = new Map(reads.map((ref) => [ref.key, facts(ref)]));
  return ({ key }) => readings.get(key) ?? UNKNOWN_READING;
}
