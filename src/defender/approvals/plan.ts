/**
 * The answer of a person to an act that waits for an approval. The person must be an approver of every rule that requires
 * an approval of the act, because the ledger keeps one answer for a machine. Pure.
 */

import type { LedgerApproval } from '../../api/generated/types.ts';
import { ownValue } from '../../kube/objects/json.ts';
import { secondsAfter } from '../../os/dates.ts';
import type { MachineFacts } from '../facts/facts.ts';
import { approvalRulesFor, type RequiredApproval } from '../guards/approvals.ts';
import type { ActOfHolder } from '../ledger/entries.ts';
import type { PreparedPolicies } from '../policies/prepare.ts';

export interface ApprovableAct extends ActOfHolder {
  readonly machine: string;
}

export interface PersonsAnswer {
  readonly decision: LedgerApproval['decision'];
  readonly reason: string;
  /** As the API server authenticated the person. */
  readonly user: { readonly name: string; readonly groups: readonly string[] };
}

export interface ApprovalInput {
  readonly policies: PreparedPolicies;
  readonly machine: (name: string) => MachineFacts | undefined;
  readonly approvals: Readonly<Record<string, LedgerApproval>>;
  readonly now: Date;
}

export type ApprovalRefusal = 'UnknownMachine' | 'NothingToApprove' | 'NotApprover' | 'AlreadyAnswered';

export type ApprovalPlan =
  | { readonly isPermitted: true; readonly approval: LedgerApproval }
  | { readonly isPermitted: false; readonly reason: ApprovalRefusal; readonly message: string };

/** Bounds of the ledger. */
const MAX_USER = 128;
const MAX_REASON = 256;

export function planAnswer(act: ApprovableAct, answer: PersonsAnswer, input: ApprovalInput): ApprovalPlan {
  const { machine, approvals, policies, now } = input;
  const facts = machine(act.machine);
  if (!facts) return refused('UnknownMachine', `machine ${act.machine} is unknown`);
  const rules = approvalRulesFor(policies, act, facts);
  if (rules.length === 0) {
    return refused('NothingToApprove', `no DefenderPolicy requires an approval of ${describeAct(act)}`);
  }
  const missing = rules.find(
    ({ rule }) => !rule.approvers.some((group) => answer.user.groups.includes(group)),
  );
  if (missing) return refused('NotApprover', notApprover(answer.user, missing));
  const approval = createApproval(act, answer, { rules, now });
  const before = ownValue(approvals, act.machine);
  const message = answeredReason(before, approval);
  return message === undefined ? { isPermitted: true, approval } : refused('AlreadyAnswered', message);
}

function refused(reason: ApprovalRefusal, message: string): ApprovalPlan {
  return { isPermitted: false, reason, message };
}

export function describeAct({ action, machine, holder }: ApprovableAct): string {
  return `${action} of ${machine} by ${holder.kind} ${holder.name}`;
}

function notApprover({ name }: PersonsAnswer['user'], { policy, rule }: RequiredApproval): string {
  return `${name} is not in a group that answers for rule ${rule.name} of policy ${policy}: ${rule.approvers.join(', ')}`;
}

/** It ends when the first rule allows no longer. */
function createApproval(
  { action, risk, holder }: ApprovableAct,
  { decision, reason, user }: PersonsAnswer,
  { rules, now }: { readonly rules: readonly RequiredApproval[]; readonly now: Date },
): LedgerApproval {
  const seconds = Math.min(...rules.map(({ rule }) => rule.timeoutSeconds));
  return {
    action,
    risk,
    holder: holder.name,
    holderKind: holder.kind,
    decision,
    by: user.name.slice(0, MAX_USER),
    reason: reason.slice(0, MAX_REASON),
    at: now.toISOString(),
    until: secondsAfter(now, seconds).toISOString(),
  };
}

/**
 * Why the answer does not replace the one that is recorded. An approval may be taken back; a refusal holds until it ends, and the
 * ledger keeps one answer for a machine: another one would forget it.
 * Checked again when the ledger is written, because two people may answer at once.
 */
export function answeredReason(
  before: LedgerApproval | undefined,
  after: LedgerApproval,
): string | undefined {
  if (!before || Date.parse(before.until) <= Date.parse(after.at)) return undefined;
  const isSame = isSameAct(before, after);
  if (before.decision === 'Approved' && (!isSame || after.decision === 'Refused')) return undefined;
  const what = isSame ? 'it' : describeAnswered(before);
  return `${what} was ${before.decision === 'Approved' ? 'approved' : 'refused'} by ${before.by} at ${before.at}, until ${before.until}`;
}

function describeAnswered({ action, holderKind = 'Other', holder }: LedgerApproval): string {
  return `${action} by ${holderKind} ${holder}`;
}

function isSameAct(a: LedgerApproval, b: LedgerApproval): boolean {
  return a.action === b.action && a.risk === b.risk && a.holder === b.holder && a.holderKind === b.holderKind;
}
