/** Compiles rendered rules, runs the tests inside them, and reports what failed and in which line. */
import { textAt, valueAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { printableLine } from '../../../kube/objects/printable.ts';
import { compileRule } from '../../../rules/compile.ts';
import { runRuleTests } from '../../../rules/rule-tests.ts';
import { splitFieldPath } from '../../checks/field-path.ts';
import { locateTest, type SourceText } from './locate.ts';

export interface FoundRule {
  readonly name: string;
  readonly object: KubeObject;
  /** The clusters that get the rule in this form. */
  readonly targets: readonly string[];
  /** The place where the object is declared: `fleet/main.ts:28`. */
  readonly declaredAt: string;
}

export interface RuleFinding {
  /** The place of the finding: `rules/kernel-hang.ts:38`. */
  readonly where: string;
  readonly rule: string;
  readonly field: string;
  readonly message: string;
}

export interface CheckedRule {
  readonly rule: string;
  readonly targets: readonly string[];
  /** The number of tests that were run: none of a rule that does not compile. */
  readonly tests: number;
  readonly findings: readonly RuleFinding[];
}

export interface RuleCheck {
  /** Whether to run the tests too, not only to compile. */
  readonly withTests: boolean;
  /** Reads the sources. Called only when a test failed. */
  readonly sources: () => readonly SourceText[];
}

export async function checkFoundRule(
  found: FoundRule,
  { withTests, sources }: RuleCheck,
): Promise<CheckedRule> {
  const { name: rule, object, targets, declaredAt } = found;
  const { rule: compiled, problems } = compileRule(object['spec']);
  const failed = compiled && withTests ? await runRuleTests(compiled) : problems;
  const findings = failed.map(({ path, message }) => ({
    where: testPlace(found, path, sources) ?? declaredAt,
    rule,
    field: path,
    message: printableLine(message),
  }));
  return { rule, targets, tests: compiled && withTests ? compiled.tests.length : 0, findings };
}

/** Returns the place of the test to which a path such as `spec.tests[2]` leads, also for everything in it. */
function testPlace(
  { name, object }: FoundRule,
  path: string,
  sources: RuleCheck['sources'],
): string | undefined {
  const [spec = '', tests = '', index = ''] = splitFieldPath(path);
  if (tests !== 'tests' || typeof index !== 'number') return undefined;
  const test = textAt(valueAt(object, spec, tests, index), 'name');
  const place = test === undefined ? undefined : locateTest(name, test, sources());
  return place && `${place.file}:${place.line}`;
}
