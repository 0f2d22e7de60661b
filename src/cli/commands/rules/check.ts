/** Compiles rendered rules and runs the tests inside them: what failed, and in which line. */
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
  /** Clusters that get the rule in this form. */
  readonly targets: readonly string[];
  /** `fleet/main.ts:28`: where the object is declared. */
  readonly declaredAt: string;
}

export interface RuleFinding {
  /** `rules/kernel-hang.ts:38` */
  readonly where: string;
  readonly rule: string;
  readonly field: string;
  readonly message: string;
}

export interface CheckedRule {
  readonly rule: string;
  readonly targets: readonly string[];
  /** That were run: none of a rule that does not compile. */
  readonly tests: number;
  readonly findings: readonly RuleFinding[];
}

export interface RuleCheck {
  /** Undefined: only compile. */
  readonly withTests: boolean;
  /** Read only when a test failed. */
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

/** Of `spec.tests[2]`, and of everything in it. */
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
