import { describe, expect, it } from 'vitest';
import type { NodeRemedier, NodeRemedierStatus } from '../../../src/api/generated/types.ts';
import type { Problem } from '../../../src/api/validation/validate.ts';
import type { RemedyFinding } from '../../../src/controllers/remedy/findings.ts';
import { type RemedierInput, remedierStatus } from '../../../src/controllers/remedy/status.ts';
import { ago, condition, NOW } from '../../support/builders.ts';
import { remedier, remedyJob } from '../../support/remediers.ts';

const COMMIT = { 'kubenode.dev/commit': '4f2c9e1a77b0' };
const FROM_GIT = { ...COMMIT, 'kubenode.dev/source': 'rules/kernel-hang.ts:12' };
const UNKNOWN_OPERATOR = { path: 'spec.rule.conditions.all[0].operator', message: 'unknown operator "not"' };
const FAILED_TEST = { path: 'spec.tests[0]', message: 'test "hung" failed' };

function statusOf(rule: NodeRemedier, more: Partial<RemedierInput> = {}): NodeRemedierStatus {
  return remedierStatus({
    remedier: rule,
    problems: [],
    findings: new Map(),
    bound: { targets: 40, unseen: 0, matched: 0, unknown: 0, limit: 2, percent: 5 },
    targets: [],
    jobs: [],
    shadow: { wouldAct: 0, wouldDeny: 0 },
    now: NOW,
    ...more,
  });
}

function explain(rule: NodeRemedier, more: Partial<RemedierInput> = {}): string[] {
  const { phase, conditions } = statusOf(rule, more);
  const lines = conditions.map(
    ({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`,
  );
  return [phase ?? 'no phase', ...lines];
}

function finding(outcome: RemedyFinding['outcome'], denial?: string): RemedyFinding {
  const wait = denial === undefined ? {} : { wait: { reason: 'Denied', message: 'stop', denial } as const };
  return { outcome, because: 'condition Ready status is unknown', isSinceKnown: true, ...wait };
}

const FOUND = new Map([
  ['m-1', finding('Match')],
  ['m-2', finding('Held')],
  ['m-3', finding('Indeterminate')],
  ['m-4', finding('Match', 'RateExceeded')],
  ['m-5', finding('NoMatch')],
]);

describe('the status of a NodeRemedier', () => {
  it.each<[mode: NodeRemedier['spec']['mode'], phase: string, enforcing: string]>([
    ['Observe', 'Observing', 'False Observe: spec.mode is Observe'],
    ['Shadow', 'Shadowing', 'False Shadow: spec.mode is Shadow'],
    ['Enforce', 'Enforcing', 'True Enforcing: the rule repairs the machines that it matches'],
  ])('R10 reports what an accepted rule does in mode %s', (mode, phase, enforcing) => {
    expect(explain(remedier({ '/mode': mode }, { annotations: COMMIT }))).toEqual([
      phase,
      'Accepted=True Valid: all 4 tests passed',
      'MatchBounded=True WithinLimit: 0 of 40 targets match, and at most 2 may (5 %)',
      'StepsPermitted=Unknown NotReported: no agent of a target reports its permits yet',
      'Indeterminate=False AllKnown: no fact that decides is unknown',
      `Enforcing=${enforcing}`,
    ]);
  });

  it('R10 reports nothing about machines of a rule that is suspended', () => {
    const rule = remedier({ '/mode': 'Suspended' }, { annotations: COMMIT });
    const before = { ...rule, status: { conditions: [condition('MatchBounded', 'False')] } };
    expect(explain(before)).toEqual([
      'Suspended',
      'Accepted=True Valid: all 4 tests passed',
      'Enforcing=False Suspended: spec.mode is Suspended',
    ]);
    expect(statusOf(rule, { findings: FOUND })).not.toHaveProperty('counts');
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
    expect(explain(rule, { problems })).toEqual([
      'Refused',
      `Accepted=False Invalid: ${message}`,
      'Enforcing=False NotAccepted: the rule is not accepted',
    ]);
  });

  it('R11 names the commit and the digest of the rule, which changes with the spec only', () => {
    const rule = remedier({}, { annotations: FROM_GIT, generation: 7 });
    const { commit, ruleDigest, observedGeneration, conditions } = statusOf(rule);
    expect({ commit, observedGeneration }).toEqual({ commit: '4f2c9e1a77b0', observedGeneration: 7 });
    expect(new Set(conditions.map((each) => each.observedGeneration))).toEqual(new Set([7]));
    expect(ruleDigest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(statusOf(remedier()).ruleDigest).toBe(ruleDigest);
    expect(statusOf(remedier({ '/priority': 501 })).ruleDigest).not.toBe(ruleDigest);
  });

  it('R11 does not enforce a rule without the commit of sync, and waits for it', () => {
    const { phase, waiting, conditions } = statusOf(remedier());
    expect([phase, waiting?.reason]).toEqual(['Held', 'NoCommit']);
    expect(conditions.find(({ type }) => type === 'Enforcing')?.status).toBe('False');
    expect(statusOf(remedier())).not.toHaveProperty('commit');
  });

  it('counts what the rule finds, by outcome and by reason of the Defender', () => {
    const jobs = [remedyJob(), remedyJob({ index: 2, outcome: 'Succeeded', begun: 900, ended: 600 })];
    const rule = remedier({}, { annotations: COMMIT });
    const { counts, matchedMachines, rungs, shadow } = statusOf(rule, { findings: FOUND, jobs });
    expect(counts).toEqual({
      matched: 3,
      held: 1,
      indeterminate: 1,
      inFlight: 1,
      denied: { RateExceeded: 1 },
    });
    expect(matchedMachines).toEqual(['m-1', 'm-2', 'm-4']);
    expect(rungs).toEqual([
      { name: 'soft', tries: 1, succeeded: 0 },
      { name: 'person', tries: 1, succeeded: 1, p95Seconds: 300 },
    ]);
    expect(shadow).toBeUndefined();
  });

  it('counts 0 of a reason that denies nothing any more', () => {
    const rule = remedier({}, { annotations: COMMIT });
    const before = statusOf(rule, { findings: FOUND });
    expect(statusOf({ ...rule, status: before }).counts?.denied).toEqual({ RateExceeded: 0 });
  });

  it('names the machine and the fact that are unknown', () => {
    expect(explain(remedier(), { findings: FOUND })).toContain(
      'Indeterminate=True FactUnknown: machine m-3: condition Ready status is unknown',
    );
  });

  it('does not enforce a rule that matches too much of its targets', () => {
    const bound = { targets: 40, unseen: 0, matched: 3, unknown: 0, limit: 2, percent: 5 };
    const text = '3 of 40 targets match, and at most 2 may (5 %)';
    const rule = remedier({}, { annotations: COMMIT });
    expect(explain(rule, { bound })).toContain(`MatchBounded=False TooManyMatches: ${text}`);
    expect(statusOf(rule, { bound }).waiting).toEqual({
      reason: 'TooManyMatches',
      since: ago(0),
      message: text,
    });
  });

  it('does not enforce while the kill switch or a breaker denies', () => {
    const findings = new Map([['m-1', finding('Match', 'KillSwitch')]]);
    const { phase, waiting } = statusOf(remedier({}, { annotations: COMMIT }), { findings });
    expect([phase, waiting?.reason]).toEqual(['Held', 'KillSwitch']);
  });

  it('R10 reports in Shadow what the rule would have done', () => {
    const shadow = { wouldAct: 2, wouldDeny: 1 };
    expect(statusOf(remedier({ '/mode': 'Shadow' }), { shadow }).shadow).toEqual(shadow);
    expect(statusOf(remedier({ '/mode': 'Observe' }), { shadow }).shadow).toBeUndefined();
  });

  it('keeps the time of a condition that did not change, and conditions of others', () => {
    const before = [
      condition('Other', 'True'),
      condition('Accepted', 'True'),
      condition('Enforcing', 'True'),
    ];
    const rule = { ...remedier(), status: { conditions: before } };
    const times = statusOf(rule).conditions.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]);
    expect(times).toContainEqual(['Other', ago(3600)]);
    expect(times).toContainEqual(['Accepted', ago(3600)]);
    expect(times).toContainEqual(['Enforcing', ago(0)]);
  });
});
