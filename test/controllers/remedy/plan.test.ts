import { describe, expect, it } from 'vitest';
import type { NodeRemedier } from '../../../src/api/generated/types.ts';
import type { Problem } from '../../../src/api/validation/validate.ts';
import { remedierStatus } from '../../../src/controllers/remedy/plan.ts';
import { ago, condition, NOW } from '../../support/builders.ts';
import { remedier } from '../../support/remediers.ts';

const FROM_GIT = {
  'kubenode.dev/commit': '4f2c9e1a77b0',
  'kubenode.dev/source': 'rules/kernel-hang.ts:12',
};
const UNKNOWN_OPERATOR = { path: 'spec.rule.conditions.all[0].operator', message: 'unknown operator "not"' };
const FAILED_TEST = { path: 'spec.tests[0]', message: 'test "hung" failed' };

function explain(rule: NodeRemedier, problems: readonly Problem[] = []): string[] {
  const { phase, conditions } = remedierStatus({ remedier: rule, problems, now: NOW });
  const lines = conditions.map(
    ({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`,
  );
  return [phase ?? 'no phase', ...lines];
}

function digestOf(rule: NodeRemedier): string | undefined {
  return remedierStatus({ remedier: rule, problems: [], now: NOW }).ruleDigest;
}

describe('the status of a NodeRemedier', () => {
  it.each<[mode: NodeRemedier['spec']['mode'], phase: string, enforcing: string]>([
    ['Suspended', 'Suspended', 'Suspended: spec.mode is Suspended'],
    [
      'Observe',
      'Observing',
      'Observe: spec.mode is Observe; this version of kubenode creates no RemedyOperationJobs, and counts no matches',
    ],
    [
      'Shadow',
      'Shadowing',
      'Shadow: spec.mode is Shadow; this version of kubenode creates no RemedyOperationJobs, and asks the Defender about none',
    ],
    [
      'Enforce',
      'Held',
      'NotSupported: this version of kubenode creates no RemedyOperationJobs: the rule is checked and repairs nothing',
    ],
  ])('reports what an accepted rule does in mode %s', (mode, phase, enforcing) => {
    expect(explain(remedier({ '/mode': mode }))).toEqual([
      phase,
      'Accepted=True Valid: all 4 tests passed',
      `Enforcing=False ${enforcing}`,
    ]);
  });

  it.each<[string, NodeRemedier, readonly Problem[], string]>([
    [
      'rule, place and reason',
      remedier(),
      [UNKNOWN_OPERATOR],
      'rule kernel-hang: spec.rule.conditions.all[0].operator: unknown operator "not"',
    ],
    [
      'file and line of a rule from git',
      remedier({}, { annotations: FROM_GIT }),
      [FAILED_TEST],
      'rule kernel-hang (rules/kernel-hang.ts:12): spec.tests[0]: test "hung" failed',
    ],
    [
      'how many problems there are more',
      remedier(),
      [UNKNOWN_OPERATOR, FAILED_TEST, FAILED_TEST],
      'rule kernel-hang: spec.rule.conditions.all[0].operator: unknown operator "not" (and 2 more)',
    ],
  ])('names %s of a rule that is refused', (_, rule, problems, message) => {
    expect(explain(rule, problems)).toEqual([
      'Refused',
      `Accepted=False Invalid: ${message}`,
      'Enforcing=False NotAccepted: the rule is not accepted',
    ]);
  });

  it('R11 names the commit and the digest of the rule, which changes with the spec only', () => {
    const rule = remedier({}, { annotations: FROM_GIT, generation: 7 });
    const status = remedierStatus({ remedier: rule, problems: [], now: NOW });
    const { commit, ruleDigest, observedGeneration } = status;
    expect({ commit, observedGeneration }).toEqual({ commit: '4f2c9e1a77b0', observedGeneration: 7 });
    expect(status.conditions.map((each) => each.observedGeneration)).toEqual([7, 7]);
    expect(ruleDigest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(digestOf(remedier())).toBe(ruleDigest);
    expect(digestOf(remedier({ '/priority': 501 }))).not.toBe(ruleDigest);
    expect(remedierStatus({ remedier: remedier(), problems: [], now: NOW })).not.toHaveProperty('commit');
  });

  it('keeps the time of a condition that did not change, and conditions of others', () => {
    const before = [
      condition('MatchBounded', 'True'),
      condition('Accepted', 'True'),
      condition('Enforcing', 'True'),
    ];
    const rule = { ...remedier(), status: { conditions: before } };
    const { conditions } = remedierStatus({ remedier: rule, problems: [], now: NOW });
    expect(conditions.map(({ type, lastTransitionTime }) => [type, lastTransitionTime])).toEqual([
      ['MatchBounded', ago(3600)],
      ['Accepted', ago(3600)],
      ['Enforcing', ago(0)],
    ]);
  });
});
