/** Acts that a person must approve. No answer is a denial. */
import type { ApprovalRule } from '../../api/generated/types.ts';
import type { DenialCause } from '../../api/grants.ts';
import { ownValue } from '../../kube/objects/json.ts';
import type { MachineFacts } from '../facts/facts.ts';
import { isAnswerTo } from '../ledger/entries.ts';
import { type Act, appliesTo, isActOf } from '../policies/matches.ts';
import type { PreparedPolicies, PreparedPolicy } from '../policies/prepare.ts';
import { after, type GuardInput, type PolicyGuard } from './guard.ts';

export const approvals: PolicyGuard = {
  id: 'approvals',
  reasons: ['ApprovalPending', 'ApprovalRefused', 'ApprovalTimedOut'],
  proof: { promise: 'an act without its approval', seed: 3 },
  skippedByRecovery: false,
  checkedAtRenewal: false,
  checkPolicy: (input, policy) => checkApprovals(input, policy),
};

function checkApprovals(input: GuardInput, { spec }: PreparedPolicy): readonly DenialCause[] {
  return spec.approval
    .filter((rule) => isFor(rule, input.ask, input.machine))
    .flatMap((rule) => checkRule(rule, input));
}

/** Local data that was not observed may be there. */
function isFor(rule: ApprovalRule, act: Act, { hasLocalData }: MachineFacts): boolean {
  return isActOf(rule, act) && !(rule.onlyLocalData && hasLocalData === false);
}

export interface RequiredApproval {
  readonly policy: string;
  readonly rule: ApprovalRule;
}

/** Every rule that denies the act until it is approved. */
export function approvalRulesFor(
  { valid }: PreparedPolicies,
  act: Act,
  machine: MachineFacts,
): readonly RequiredApproval[] {
  return valid
    .filter((policy) => policy.enforced && appliesTo(policy, act, machine))
    .flatMap(({ name, spec }) =>
      spec.approval.flatMap((rule) => (isFor(rule, act, machine) ? [{ policy: name, rule }] : [])),
    );
}

function checkRule(
  { name, approvers, timeoutSeconds }: ApprovalRule,
  { ask, ledger, now }: GuardInput,
): readonly DenialCause[] {
  const answer = ownValue(ledger.approvals, ask.machine);
  const what = `${ask.action} of ${ask.machine} by ${ask.holder.kind} ${ask.holder.name}`;
  const rule = { key: name };
  if (!answer || !isAnswerTo(answer, ask)) {
    const message = `${what} waits for the approval of ${approvers.join(' or ')}`;
    return [{ reason: 'ApprovalPending', message, ...rule }];
  }
  if (answer.decision === 'Refused') {
    return [
      { reason: 'ApprovalRefused', message: `${what} was refused by ${answer.by} at ${answer.at}`, ...rule },
    ];
  }
  // A rule that was made shorter since holds for answers before it.
  const allowed = after(answer.at, timeoutSeconds);
  const until = +allowed < Date.parse(answer.until) ? allowed.toISOString() : answer.until;
  if (Date.parse(until) > +now) return [];
  const message = `the approval of ${what} by ${answer.by} ended at ${until}`;
  return [{ reason: 'ApprovalTimedOut', message, ...rule }];
}
