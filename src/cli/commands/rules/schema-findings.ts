/**
 * Converts what a render refuses of rules to findings of the rules: each problem once, although every cluster has the rule, and with the
 * file in which the rule is written, not the one that declares its object. Pure.
 */
import { formatLocation, type RenderProblem } from '../../../sync/render/errors.ts';
import type { RuleFinding } from './check.ts';
import { locateField, type SourceText } from './locate.ts';

/** The form in which constructs report a problem: `NodeRemedier kernel-hang: spec.rule.gate.value: must be a number`. */
const OF_RULE = /^NodeRemedier (?<rule>\S+): (?<field>[^\s:]+): (?<message>.*)$/s;

/** Returns the findings. `place` is the place of a problem that names no file. */
export function schemaFindings(
  problems: readonly RenderProblem[],
  sources: readonly SourceText[],
  place: string,
): readonly RuleFinding[] {
  const findings = problems.map((problem) => findingOf(problem, sources, place));
  const first = new Map(findings.toReversed().map((finding) => [JSON.stringify(finding), finding]));
  return [...first.values()].toReversed();
}

function findingOf(problem: RenderProblem, sources: readonly SourceText[], place: string): RuleFinding {
  const { groups } = OF_RULE.exec(problem.message) ?? {};
  const { rule, field, message } = groups ?? {};
  if (rule === undefined || field === undefined || message === undefined) {
    return { where: formatLocation(problem) ?? place, rule: '-', field: '-', message: problem.message };
  }
  const own = locateField(rule, field, sources);
  return { where: own ? `${own.file}:${own.line}` : declaredAt(problem, place), rule, field, message };
}

/** Returns the place where the rule is declared, without the path of the construct, which differs in each cluster. */
function declaredAt({ file, line }: RenderProblem, place: string): string {
  return (
    formatLocation({
      message: '',
      ...(file !== undefined && { file }),
      ...(line !== undefined && { line }),
    }) ?? place
  );
}
