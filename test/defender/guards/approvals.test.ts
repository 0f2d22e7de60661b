import { describe, expect, it } from 'vitest';
import type { ApprovalRule, LedgerApproval } from '../../../src/api/generated/types.ts';
import { approvalRulesFor } from '../../../src/defender/guards/approvals.ts';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import { ago, ask, decideScene, machineFacts, policy } from '../builders.ts';

const RULE: ApprovalRule = {
  name: 'reboots',
  risks: [],
  actions: ['Reboot'],
  onlyLocalData: false,
  approvers: ['sre'],
  timeoutSeconds: 3600,
};
const ANSWER: LedgerApproval = {
  action: 'Reboot',
  risk: 'Node',
  holder: 'alice',
  holderKind: 'Other',
  decision: 'Approved',
  by: 'bob',
  at: ago(60),
  until: ago(-60),
};

describe('approvals', () => {
  it.each([
    ['the same act', {}, 'granted'],
    ['a higher risk', { risk: 'Data' }, 'ApprovalPending'],
    ['a holder of another kind', { holder: { kind: 'Machine', name: 'alice' } }, 'ApprovalPending'],
    ['another holder', { holder: { kind: 'Other', name: 'carol' } }, 'ApprovalPending'],
    ['another machine', { machine: 'm-2', nodeUID: 'uid-m-2' }, 'ApprovalPending'],
    ['another act', { action: 'Drain', risk: 'Pod' }, 'granted'],
  ] as const)('R13 counts an approval for %s only as it was answered', (_, fields, expected) => {
    const found = decideScene({
      policies: [policy({ approval: [RULE] })],
      ledger: { approvals: { 'm-1': ANSWER } },
      ask: { holder: { kind: 'Other', name: 'alice' }, ...fields },
    });
    expect(found.permitted ? 'granted' : found.reason).toBe(expected);
  });

  it.each([
    ['as long as it did', 61, 'granted'],
    ['for a shorter time since', 60, 'ApprovalTimedOut'],
  ])('R13 counts an approval whose rule allows it %s', (_, timeoutSeconds, expected) => {
    const found = decideScene({
      policies: [policy({ approval: [{ ...RULE, timeoutSeconds }] })],
      ledger: { approvals: { 'm-1': ANSWER } },
      ask: { holder: { kind: 'Other', name: 'alice' } },
    });
    expect(found.permitted ? 'granted' : found.reason).toBe(expected);
  });

  it('lists the rules of every policy that denies the act', () => {
    const rack = { all: false, matchLabels: { rack: 'r9' } };
    const policies = [
      policy({ approval: [RULE, { ...RULE, name: 'wipes', actions: ['WipeDisk'] }] }),
      policy({ approval: [{ ...RULE, name: 'local', onlyLocalData: true }] }, 'a-local'),
      policy({ approval: [RULE], mode: 'Audit' }, 'b-audit'),
      policy({ approval: [RULE], scope: { nodeSelector: rack, actions: [], risks: [], holders: [] } }, 'c'),
    ];
    const names = (hasLocalData: boolean | undefined): readonly string[] =>
      approvalRulesFor(
        preparePolicies(policies),
        ask(),
        machineFacts('m-1', { hasLocalData: hasLocalData as never }),
      ).map(({ policy: name, rule }) => `${name}/${rule.name}`);
    expect(names(false)).toEqual(['fleet-default/reboots']);
    expect(names(undefined)).toEqual(['a-local/local', 'fleet-default/reboots']);
  });
});
