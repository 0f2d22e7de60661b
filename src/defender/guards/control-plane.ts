/** R22: control plane machines one at a time, the leader last, and never below the quorum. */
import type { DenialCause } from '../../api/grants.ts';
import { isInFlight } from '../../api/grants.ts';
import type { ControlPlaneMember } from '../facts/facts.ts';
import { isAnswerTo, isLingering, isListed } from '../ledger/entries.ts';
import type { PreparedPolicy } from '../policies/prepare.ts';
import { approvalRulesFor } from './approvals.ts';
import type { GuardInput, PolicyGuard } from './guard.ts';

export const controlPlane: PolicyGuard = {
  id: 'control-plane',
  reasons: [
    'ControlPlaneBusy',
    'ControlPlaneUnreadable',
    'EtcdQuorum',
    'APIServersNotEnough',
    'LeaderGoesLast',
    'SingleControlPlane',
    'ControlPlaneActionNotAllowed',
  ],
  proof: { promise: 'an act that costs the quorum', seed: 2 },
  skippedByRecovery: false,
  checkedAtRenewal: true,
  checkPolicy,
};

function checkPolicy(input: GuardInput, policy: PreparedPolicy): readonly DenialCause[] {
  const { machine, ask, facts } = input;
  if (!machine.isControlPlane) return [];
  const allowed = isListed(policy.spec.controlPlane.actions, ask.action) ? [] : [notAllowed(input)];
  if (ask.risk === 'None') return allowed;
  return [...allowed, ...busyCauses(input, policy), ...memberCauses(input, policy, facts.controlPlane)];
}

function memberCauses(
  input: GuardInput,
  policy: PreparedPolicy,
  members: readonly ControlPlaneMember[] | undefined,
): readonly DenialCause[] {
  const own = members?.find(({ machine }) => machine === input.machine.name);
  if (!members || !own || members.some(isUnknown)) {
    const message = 'etcd members and API servers could not all be read';
    return [{ reason: 'ControlPlaneUnreadable', message }];
  }
  const others = members.filter((member) => member !== own);
  if (others.length === 0) return single(input);
  return [...quorum(others, policy), ...apiServers(others, policy), ...leaderLast(own, others)];
}

function isUnknown({ etcd, apiServer }: ControlPlaneMember): boolean {
  return etcd === 'Unknown' || apiServer === 'Unknown';
}

function notAllowed({ ask }: GuardInput): DenialCause {
  const message = `${ask.action} is not allowed on control plane machines`;
  return { reason: 'ControlPlaneActionNotAllowed', message };
}

function busyCauses(
  { ledger, facts, machine, now }: GuardInput,
  { spec }: PreparedPolicy,
): readonly DenialCause[] {
  const limit = spec.controlPlane.max;
  const { lingerSeconds } = spec.counting;
  const busy = Object.entries(ledger.grants)
    .filter(
      ([name, entry]) =>
        name !== machine.name &&
        isCounted(name) &&
        (isInFlight(entry) || isLingering(entry, lingerSeconds, now)),
    )
    .map(([name]) => name);
  if (busy.length < limit) return [];
  const message = `control plane machines in work: ${busy.join(', ') || 'none'}; at most ${limit} at a time`;
  return [{ reason: 'ControlPlaneBusy', message, used: busy.length, limit }];

  function isCounted(name: string): boolean {
    return facts.machine(name)?.isControlPlane === true;
  }
}

/** With an approval, a control plane of one machine may be interrupted. */
function single(input: GuardInput): readonly DenialCause[] {
  const { ledger, ask, now, policies, machine } = input;
  // The grant used the approval up: the rule that required it shows at a renewal that there was one.
  if (!ask.factsAt && approvalRulesFor(policies, ask, machine).length > 0) return [];
  const approval = ledger.approvals[ask.machine];
  const isApproved =
    approval?.decision === 'Approved' && isAnswerTo(approval, ask) && Date.parse(approval.until) > +now;
  if (isApproved) return [];
  const message = 'the control plane has one machine: approve the act to interrupt it';
  return [{ reason: 'SingleControlPlane', message }];
}

function quorum(others: readonly ControlPlaneMember[], { spec }: PreparedPolicy): readonly DenialCause[] {
  if (!spec.controlPlane.etcdQuorumAfter) return [];
  const used = others.filter(({ etcd }) => etcd === 'Healthy').length;
  const limit = Math.floor((others.length + 1) / 2) + 1;
  if (used >= limit) return [];
  const message = `healthy etcd members without this one: ${used}; the quorum is ${limit}`;
  return [{ reason: 'EtcdQuorum', message, used, limit }];
}

function apiServers(others: readonly ControlPlaneMember[], { spec }: PreparedPolicy): readonly DenialCause[] {
  const limit = spec.controlPlane.readyAPIServersAfter;
  const used = others.filter(({ apiServer }) => apiServer === 'Ready').length;
  if (used >= limit) return [];
  const message = `ready API servers without this one: ${used}; at least ${limit} must remain`;
  return [{ reason: 'APIServersNotEnough', message, used, limit }];
}

function leaderLast(own: ControlPlaneMember, others: readonly ControlPlaneMember[]): readonly DenialCause[] {
  const before = others.filter(({ needsWork }) => needsWork).map(({ machine }) => machine);
  if (!own.isLeader || before.length === 0) return [];
  const message = `machine ${own.machine} is the etcd leader, and ${before.join(', ')} goes first`;
  return [{ reason: 'LeaderGoesLast', message }];
}
