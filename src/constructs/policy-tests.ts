import type { PolicyTest } from '../api/validation/policy-tests.ts';
import type { DefenderPolicySpec } from './generated/types.ts';

export interface PolicyTests {
  /** Specs of the policies that decide, by name: with `fleet-default`, or every ask is denied. */
  readonly policies: Readonly<Record<string, DefenderPolicySpec>>;
  readonly tests: readonly PolicyTest[];
}

/**
 * Tests of policies, for a file in `rules/test/policies/` that exports them as `tests`. `kubenode validate` and `kubenode plan` run
 * them with the decisions of the Defender.
 */
export function policyTests(policies: PolicyTests['policies'], tests: readonly PolicyTest[]): PolicyTests {
  return { policies, tests };
}
