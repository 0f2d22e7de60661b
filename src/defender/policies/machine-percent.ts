/** R15: a third of the machines may be replaced at once only where a person approves each of these acts. Pure. */
import type { Problem } from '../../api/validation/validate.ts';
import { type ActLists, actsIn, canHaveRisk, coversActs } from './acts.ts';
import type { DeclaredPolicySpec } from './looser.ts';

const MAX_PERCENT = 33;

export function unapprovedPercentages(spec: DeclaredPolicySpec): readonly Problem[] {
  return (spec.concurrency ?? []).flatMap((limit, index) => {
    const isAbove = typeof limit.max === 'string' && Number.parseInt(limit.max, 10) > MAX_PERCENT;
    const acts = actsIn(spec.scope, limit);
    if (!isAbove || !canHaveRisk(acts, 'Machine') || isApproved(spec, acts)) return [];
    const message = `at most ${MAX_PERCENT}% without an approval rule for acts of risk Machine: lower it, or add the rule to spec.approval`;
    return [{ path: `spec.concurrency[${index}].max`, message }];
  });
}

function isApproved({ approval = [] }: DeclaredPolicySpec, { actions }: ActLists): boolean {
  return approval.some((rule) => !rule.onlyLocalData && coversActs(rule, { actions, risks: ['Machine'] }));
}
