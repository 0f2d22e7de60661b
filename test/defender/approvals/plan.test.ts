import { describe, expect, it } from 'vitest';
import type { ApprovalRule, DefenderPolicySpec, LedgerApproval } from '../../../src/api/generated/types.ts';
import { type ApprovableAct, planAnswer } from '../../../src/defender/approvals/plan.ts';
import type { MachineFacts } from '../../../src/defender/facts/facts.ts';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import { ago, machineFacts, NOW, policy } from '../builders.ts';

const DATA: ApprovalRule = {
  name: 'data',
  risks: ['Data'],
  actions: [],
  onlyLocalData: false,
  approvers: ['sre', 'storage'],
  timeoutSeconds: 3600,
};
const GPU: ApprovalRule = { ...DATA, name: 'gpu', approvers: ['ml'], timeoutSeconds: 600 };
const ACT: ApprovableAct = {
  machine: 'm-1',
  action: 'WipeDisk',
  risk: 'Data',
  holder: { kind: 'Other', name: 'alice' },
};
const ANSWER: LedgerApproval = {
  action: 'WipeDisk',
  risk: 'Data',
  holder: 'alice',
  holderKind: 'Other',
  decision: 'Approved',
  by: 'bob',
  at: ago(60),
  until: ago(-60),
};

interface Scene {
  readonly rules?: readonly ApprovalRule[];
  readonly more?: Partial<DefenderPolicySpec>;
  readonly groups?: readonly string[];
  readonly act?: Partial<ApprovableAct>;
  readonly machine?: Partial<MachineFacts> | 'unknown';
  readonly before?: Partial<LedgerApproval>;
  readonly decision?: LedgerApproval['decision'];
}

describe('planAnswer', () => {
  it.each<[string, Scene, string]>([
    ['records the answer of an approver', {}, 'Approved until 13:00:00'],
    ['records a refusal', { decision: 'Refused' }, 'Refused until 13:00:00'],
    [
      'names the groups to a person in none of them',
      { groups: ['dev'] },
      'NotApprover: bob is not in a group that answers for rule data of policy fleet-default: sre, storage',
    ],
    [
      'wants a person whom every rule names',
      { rules: [DATA, GPU] },
      'NotApprover: bob is not in a group that answers for rule gpu of policy fleet-default: ml',
    ],
    [
      'ends with the shortest time of the rules',
      { rules: [DATA, GPU], groups: ['storage', 'ml'] },
      'Approved until 12:10:00',
    ],
    [
      'has nothing to answer when no rule is for the risk',
      { act: { risk: 'Node', action: 'Reboot' } },
      'NothingToApprove: no DefenderPolicy requires an approval of Reboot of m-1 by Other alice',
    ],
    [
      'has nothing to answer for a policy that only records',
      { more: { mode: 'Audit' } },
      'NothingToApprove: no DefenderPolicy requires an approval of WipeDisk of m-1 by Other alice',
    ],
    [
      'has nothing to answer for a machine without local data',
      { rules: [{ ...DATA, onlyLocalData: true }] },
      'NothingToApprove: no DefenderPolicy requires an approval of WipeDisk of m-1 by Other alice',
    ],
    [
      'answers for a machine that may have local data',
      { rules: [{ ...DATA, onlyLocalData: true }], machine: { hasLocalData: undefined as never } },
      'Approved until 13:00:00',
    ],
    ['knows the machine', { machine: 'unknown' }, 'UnknownMachine: machine m-1 is unknown'],
    [
      'does not answer twice',
      { before: {} },
      'AlreadyAnswered: it was approved by bob at 2030-01-01T11:59:00Z, until 2030-01-01T12:01:00Z',
    ],
    ['takes an approval back', { before: {}, decision: 'Refused' }, 'Refused until 13:00:00'],
    [
      'does not overrule a refusal',
      { before: { decision: 'Refused' } },
      'AlreadyAnswered: it was refused by bob at 2030-01-01T11:59:00Z, until 2030-01-01T12:01:00Z',
    ],
    ['answers again when the answer has ended', { before: { until: ago(1) } }, 'Approved until 13:00:00'],
    ['replaces the answer to another act', { before: { holder: 'carol' } }, 'Approved until 13:00:00'],
  ])('%s', (_, scene, expected) => {
    expect(text(scene)).toBe(expected);
  });
});

function text({ rules = [DATA], more = {}, groups = ['sre'], machine = {}, ...scene }: Scene): string {
  const plan = planAnswer(
    { ...ACT, ...scene.act },
    { decision: scene.decision ?? 'Approved', reason: 'checked', user: { name: 'bob', groups } },
    {
      policies: preparePolicies([policy({ approval: rules, ...more })]),
      machine: (name) => (machine === 'unknown' ? undefined : machineFacts(name, machine)),
      approvals: scene.before ? { 'm-1': { ...ANSWER, ...scene.before } } : {},
      now: NOW,
    },
  );
  if (!plan.isPermitted) return `${plan.reason}: ${plan.message}`;
  const { decision, by, reason, until } = plan.approval;
  expect([by, reason]).toEqual(['bob', 'checked']);
  return `${decision} until ${until.slice(11, 19)}`;
}
