import { describe, expect, it } from 'vitest';
import type { Pipeline } from '../../../../src/api/generated/types.ts';
import { applyPolicyOf } from '../../../../src/sync/hub/pipeline/apply-policy.ts';
import { gatesOf } from '../../../../src/sync/promote/gates/strictest.ts';
import { PromotionSimulation } from '../../promote/simulation/simulation.ts';

const EXPRESSION = { group: 'batch', kind: 'CronJob', healthy: 'has(self.status.lastSuccessfulTime)' };

const BASE = new PromotionSimulation().pipeline;

function pipelineWith(spec: object, before: object): Pipeline {
  const inForce = gatesOf({ ...BASE.spec, ...before });
  return {
    ...BASE,
    spec: { ...BASE.spec, ...spec },
    status: { conditions: [], gates: { commit: 'c1', inForce } },
  };
}

describe('the policy by which a commit is applied', () => {
  it('deletes nothing without a Pipeline', () => {
    expect(applyPolicyOf(undefined)).toEqual({
      budget: { maxObjects: 0, maxPercent: 0 },
      acknowledgements: [],
    });
  });

  it('S14 has every field of the Pipeline that an apply acts on', () => {
    const spec = {
      deleteBudget: { maxObjects: 3, maxPercent: 4 },
      acknowledgements: [{ cluster: 'a' }],
      forceManagers: ['helm'],
      fieldPolicies: [{ kind: 'Deployment', path: 'spec.replicas', policy: 'Ignore' }],
      healthExpressions: [EXPRESSION],
      identities: [{ unit: 'web', serviceAccount: 'web/web' }],
    };
    const { deleteBudget: budget, ...others } = spec;
    expect(applyPolicyOf(pipelineWith(spec, spec))).toEqual({ budget, ...others });
  });

  it('S14 keeps an expression that is in force, although the newest commit has removed it', () => {
    const { healthExpressions } = applyPolicyOf(pipelineWith({}, { healthExpressions: [EXPRESSION] }));
    expect(healthExpressions).toEqual([EXPRESSION]);
  });
});
