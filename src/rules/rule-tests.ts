/** What is wrong with a rule: it does not compile, or it does not say what its own tests expect. */
import { setImmediate } from 'node:timers/promises';
import { compile } from './compile.ts';
import { evaluatorOf } from './evaluator.ts';
import type { CompiledRule } from './compiled-rule.ts';
import type { Problem } from './problems.ts';

export async function problemsOf(spec: unknown): Promise<readonly Problem[]> {
  const { rule, problems } = compile(spec);
  return rule ? failedTests(rule) : problems;
}

/** Tests that say something else than expected, each with what made it so. */
export async function failedTests(rule: CompiledRule): Promise<readonly Problem[]> {
  const evaluate = evaluatorOf(rule);
  const failed: Problem[] = [];
  for (const { name, expect, given, path } of rule.tests) {
    const { outcome, because } = await evaluate(given);
    const said = `expected ${expect}, got ${outcome}, because ${because}`;
    if (outcome !== expect) failed.push({ path, message: `the test ${JSON.stringify(name)} fails: ${said}` });
    // An engine awaits only what is there already: without this, a commit of many rules would keep timers from a Lease.
    await setImmediate();
  }
  return failed;
}
