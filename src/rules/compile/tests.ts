/** The tests that a rule carries: each answer that the rule can give is asked for at least once. */
import { textAt, valueAt } from '../../kube/objects/json.ts';
import { OUTCOMES, type Outcome, type RuleTest } from '../compiled-rule.ts';
import { guess, listIn, type Report, recordAt } from '../problems.ts';
import { compileGiven } from './test-facts.ts';

export function compileTests(
  report: Report,
  path: string,
  written: unknown,
  hasGate: boolean,
): readonly RuleTest[] {
  const tests = (listIn(report, path, written) ?? []).flatMap(
    (test, index) => compileTest(report, `${path}[${index}]`, test, hasGate) ?? [],
  );
  checkNames(report, tests);
  const wanted = OUTCOMES.filter((outcome) => hasGate || outcome !== 'Held');
  const missing = wanted.filter((outcome) => !tests.some(({ expect }) => expect === outcome));
  if (missing.length > 0) {
    report(path, `no test expects ${missing.join(' and ')}: a rule proves each of its answers at least once`);
  }
  return tests;
}

function compileTest(report: Report, path: string, written: unknown, hasGate: boolean): RuleTest | undefined {
  const test = recordAt(report, path, written);
  if (!test) return undefined;
  const name = textAt(test, 'name');
  if (!name) report(`${path}.name`, 'is required: say in a few words what is given');
  const expect = compileExpect(report, `${path}.expect`, valueAt(test, 'expect'), hasGate);
  const given = compileGiven(report, `${path}.given`, valueAt(test, 'given'));
  return name && expect ? { name, expect, given, path } : undefined;
}

function compileExpect(report: Report, path: string, word: unknown, hasGate: boolean): Outcome | undefined {
  const known = OUTCOMES.find((outcome) => outcome === word);
  if (known === 'Held' && !hasGate) {
    return report(path, 'nothing can be Held without a gate: add spec.rule.gate, or expect another answer');
  }
  if (known) return known;
  const hint = typeof word === 'string' ? guess(word, OUTCOMES) : '';
  return report(path, `must be one of ${OUTCOMES.join(', ')}${hint}`);
}

function checkNames(report: Report, tests: readonly RuleTest[]): void {
  const seen = new Set<string>();
  for (const { name, path } of tests) {
    if (seen.has(name)) report(`${path}.name`, `another test is called ${JSON.stringify(name)} as well`);
    seen.add(name);
  }
}
