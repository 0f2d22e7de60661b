/** Checks a rule: it compiles, and its own tests pass. */
import { setImmediate } from 'node:timers/promises';
import type { Problem } from '../api/validation/validate.ts';
import { compileRule } from './compile.ts';
import type { CompiledRule } from './compiled-rule.ts';
import { createRuleEvaluator } from './rule-evaluator.ts';

export async function checkRule(spec: unknown): Promise<readonly Problem[]> {
  const { rule, problems } = compileRule(spec);
  return rule ? runRuleTests(rule) : problems;
}

/** Runs the tests of a rule and returns the failed ones, each with an explanation. */
export async function runRuleTests(rule: CompiledRule): Promise<readonly Problem[]> {
  const evaluate = createRuleEvaluator(rule);
  const failed: Problem[] = [];
  for (const { name, expect, given, path } of rule.tests) {
    const { outcome, because } = await evaluate(given);
    const difference = `expected ${expect}, got ${outcome}, because ${because}`;
    if (outcome !== expect) {
      failed.push({ path, message: `test ${JSON.stringify(name)} failed: ${difference}` });
    }
    // The engine awaits only resolved promises: without this, a commit with many rules would block timers, such as that of a Lease.
    await setImmediate();
  }
  return failed;
}
