/** Returns what a commit is applied by: the gates in force before it. Pure. */
import type { Pipeline } from '../../../api/generated/types.ts';
import type { ApplyPolicy } from '../../apply/cluster-syncer.ts';
import { DEFAULT_DELETE_BUDGET } from '../../judge/delete-budget.ts';
import { judgingPipeline } from '../../promote/gates/in-force.ts';

/** Without a Pipeline the budget is zero: nothing is deleted. */
export function applyPolicyOf(pipeline: Pipeline | undefined): ApplyPolicy {
  if (!pipeline) return { budget: { maxObjects: 0, maxPercent: 0 }, acknowledgements: [] };
  const { deleteBudget, acknowledgements, forceManagers, fieldPolicies, healthExpressions, identities } =
    judgingPipeline(pipeline).pipeline.spec;
  return {
    budget: { ...DEFAULT_DELETE_BUDGET, ...deleteBudget },
    acknowledgements: acknowledgements ?? [],
    forceManagers: forceManagers ?? [],
    fieldPolicies: fieldPolicies ?? [],
    healthExpressions: healthExpressions ?? [],
    identities: identities ?? [],
  };
}
