/** Asks a compiled rule about a node. */

import { judgeOf } from './engine.ts';
import { type Answer, answerOf } from './explain.ts';
import { type CompiledRule, type Facts, UNKNOWN_READING } from './compiled-rule.ts';

export type Evaluator = (facts: Facts) => Promise<Answer>;

/** Makes the engines of the rule, once. What is known is read once for an answer: it may change meanwhile. */
export function evaluatorOf(rule: CompiledRule): Evaluator {
  const conditions = judgeOf(rule.conditions);
  const gate = rule.gate ? judgeOf(rule.gate) : undefined;
  return async (facts) => {
    const known = readOnce(rule, facts);
    const ill = await conditions(known);
    const open = ill === 'True' ? await gate?.(known) : undefined;
    return answerOf(rule, ill, open, known);
  };
}

function readOnce({ reads }: CompiledRule, facts: Facts): Facts {
  const readings = new Map(reads.map((ref) => [ref.key, facts(ref)]));
  return ({ key }) => readings.get(key) ?? UNKNOWN_READING;
}
