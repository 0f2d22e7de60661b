/** Compiles the tests of a rule: at least one for each possible outcome. */
import { textAt, valueAt } from '../../kube/objects/json.ts';
import { RULE_OUTCOMES, type RuleOutcome, type RuleTest } from '../compiled-rule.ts';
import { type ReportProblem, readArray, readObject, suggestName } from '../problems.ts';
import { compileTestFacts } from './test-facts.ts';

export function compileTests(
  report: ReportProblem,
  path: string,
  written: unknown,
  hasGate: boolean,
): readonly RuleTest[] {
  const tests = (readArray(report, path, written) ?? []).flatMap(
    (test, index) => compileTest(report, `${path}[${index}]`, test, hasGate) ?? [],
  );
  checkNames(report, tests);
  const possible = RULE_OUTCOMES.filter((outcome) => hasGate || outcome !== 'Held');
  const missing = possible.filter((outcome) => !tests.some(({ expect }) => expect === outcome));
  if (missing.length > 0) {
    report(path, `no test expects ${missing.join(' and ')}: add a test for every possible outcome`);
  }
  return tests;
}

function compileTest(
  report: ReportProblem,
  path: string,
  written: unknown,
  hasGate: boolean,
): RuleTest | undefined {
  const test = readObject(report, path, written);
  if (!test) return undefined;
  const name = textAt(test, 'name');
  if (!name) report(`${path}.name`, 'is required: describe the test in a few words');
  const expect = compileExpect(report, `${path}.expect`, valueAt(test, 'expect'), hasGate);
  const given = compileTestFacts(report, `${path}.given`, valueAt(test, 'given'));
  return name && expect ? { name, expect, given, path } : undefined;
}

function compileExpect(
  report: ReportProblem,
  path: string,
  word: unknown,
  hasGate: boolean,
): RuleOutcome | undefined {
  const known = RULE_OUTCOMES.find((outcome) => outcome === word);
  if (known === 'Held' && !hasGate) {
    return report(path, 'Held is not possible without a gate: add spec.rule.gate, or expect another outcome');
  }
  if (known) return known;
  const hint = typeof word === 'string' ? suggestName(word, RULE_OUTCOMES) : '';
  return report(path, `must be one of ${RULE_OUTCOMES.join(', ')}${hint}`);
}

function checkNames(report: ReportProblem, tests: readonly RuleTest[]): void {
  const names = new Set<string>();
  for (const { name, path } of tests) {
    if (names.has(name)) report(`${path}.name`, `duplicate test name ${JSON.stringify(name)}`);
    names.add(name);
  }
}
