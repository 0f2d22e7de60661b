/** Why each machine is not at its revision, in one of a few words: for counters, where the reason of an agent may be any word. Pure. */
import { DRAIN_PENDING } from '../../../api/machine/drain-wait.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import type { MemberState } from '../machine/member-state.ts';
import { isStopped } from '../rollout/stopped.ts';
import type { SetReport } from './report.ts';
import { machineWaits } from './wait.ts';

/**
 * InWork: it waits for nothing but its own agent. Stopped: a person has to act. Blocked: for what the set names, or the API servers.
 * HostDiffers: it was adopted, and keeps what its host runs.
 */
export const WAIT_KINDS = [
  'Queued',
  'NoGrant',
  'Gate',
  'Held',
  'Pinned',
  'HostDiffers',
  'AgentSilent',
  'WaitingForDrain',
  'Failed',
  'Paused',
  'Stopped',
  'Blocked',
  'InWork',
] as const;

export type WaitKind = (typeof WAIT_KINDS)[number];

/** Exactly one for each machine that is not settled at its revision. */
export function waitKinds(report: SetReport): ReadonlyMap<string, WaitKind> {
  const members = new Map(report.input.members.map((member) => [member.name, member]));
  return new Map(
    [...machineWaits(report)].flatMap(([name, wait]) => {
      const member = members.get(name);
      return member ? [[name, kindOf(member, wait, report)] as const] : [];
    }),
  );
}

function kindOf(member: MemberState, wait: Explanation, { input, plan }: SetReport): WaitKind {
  const { desired } = input;
  if ('problems' in desired) return 'Blocked';
  const isAtRevision = member.revision === desired.revision.name;
  const known = BY_REASON[wait.reason] ?? (isAtRevision ? BY_STEP[member.step] : undefined);
  if (known) return known;
  if (isStopped(plan.limit) && wait.reason === plan.limit.reason) return 'Stopped';
  return isAtRevision ? 'InWork' : 'Queued';
}

const BY_STEP: Partial<Readonly<Record<MemberState['step'], WaitKind>>> = {
  Failed: 'Failed',
  Unhealthy: 'Failed',
  UnhealthyBefore: 'Failed',
};

const BY_REASON: Readonly<Partial<Record<string, WaitKind>>> = {
  AgentSilent: 'AgentSilent',
  ApprovalRequired: 'Gate',
  Freeze: 'Gate',
  OutsideWindow: 'Gate',
  CompatibilityUnknown: 'Blocked',
  ComponentIncompatible: 'Blocked',
  ComponentYanked: 'Blocked',
  GateInconclusive: 'Gate',
  GateLoosened: 'Gate',
  GateOpen: 'Gate',
  GrantDenied: 'NoGrant',
  GrantNeeded: 'NoGrant',
  Held: 'Held',
  HeldByPartition: 'Gate',
  HostDiffers: 'HostDiffers',
  KubeletSkew: 'Blocked',
  MachineBusy: 'NoGrant',
  NodeCordoned: 'NoGrant',
  Paused: 'Paused',
  Pinned: 'Pinned',
  ServerVersionUnknown: 'Blocked',
  Soaking: 'Gate',
  [DRAIN_PENDING]: 'WaitingForDrain',
};
