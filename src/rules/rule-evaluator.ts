/** Evaluates a compiled rule for a node. */
import { FACT_KINDS } from './catalog.ts';
import { type CompiledRule, type FactReader, type Reading } from './compiled-rule.ts';
import { explainOutcome, type RuleResult } from './explain.ts';
import { createPrecheck, createTreeEvaluator } from './tree-evaluator.ts';

export type RuleEvaluator = (facts: FactReader) => Promise<RuleResult>;

/**
 * Creates the engines of the rule once. Each evaluation reads a fact at most once, because facts can change meanwhile: those
 * of conditions before the first promise, or only those that already exclude a match.
 */
export function createRuleEvaluator(rule: CompiledRule): RuleEvaluator {
  const canHold = createPrecheck(rule.conditions);
  const conditions = createTreeEvaluator(rule.conditions);
  const gate = rule.gate ? createTreeEvaluator(rule.gate) : undefined;
  // Others count the fleet, or ask the API server: only for a machine that has the fault.
  const early = rule.reads.filter(({ fact }) => FACT_KINDS.get(fact)?.onlyInGate === undefined);
  return async (facts) => {
    const known = readOnce(facts);
    if (!canHold(known)) return explainOutcome(rule, 'False', undefined, known);
    for (const ref of early) known(ref);
    const conditionsTruth = await conditions(known);
    const gateTruth = conditionsTruth === 'True' ? await gate?.(known) : undefined;
    return explainOutcome(rule, conditionsTruth, gateTruth, known);
  };
}

function readOnce(facts: FactReader): FactReader {
  const readings = new Map<string, Reading>();
  return (ref) => {
    const known = readings.get(ref.key);
    if (known) return known;
    const reading = facts(ref);
    readings.set(ref.key, reading);
    return reading;
  };
}
