/** Plans what happens to grants of machines in work: a grant is renewed while the work goes on, and settled when it has ended. Pure. */
import type { LedgerGrant, MachineComponentReport } from '../../../../api/generated/types.ts';
import type { GrantOutcome } from '../../../../api/grants.ts';
import { reportOf } from '../../../../api/machine/entry-report.ts';
import { hasGivenBack, type MemberState } from '../../machine/member-state.ts';
import { NOT_OBSERVED } from '../../machine/update-progress.ts';
import type { RolloutAction, RolloutInput, RolloutMode } from '../input.ts';
import { modeOf, returnRevision, rollsOut } from '../mode.ts';
import { isIndependent, isInForce } from './restarts.ts';
import { planWithdrawal } from './withdrawal.ts';

/** Half of the life of a grant: a controller that is away for less leaves no agent without permission. */
export const RENEW_BEFORE_MS = 150_000;

/** Plans the upkeep of grants. `changing` get other entries now, with the grant that they have. */
export function planUpkeep(input: RolloutInput, changing: ReadonlySet<string>): readonly RolloutAction[] {
  const { members, left, deleted, now } = input;
  const kept = members.filter(({ name }) => !changing.has(name));
  const end = endingOf(input);
  const back = returnRevision(input);
  return [
    ...kept.flatMap((member) => settlement(member) ?? end(member) ?? renewal(member, now, back) ?? []),
    ...planLeft({ left: left.filter(({ name }) => !changing.has(name)), deleted, now }),
  ];
}

/**
 * Returns the plan for updates that end before their machine is at its end. A paused set begins no rollback before it is
 * resumed, and a stopped one begins none at all.
 */
function endingOf(input: RolloutInput): (member: MemberState) => RolloutAction | undefined {
  const { set, progress, now } = input;
  const { paused, dryRun } = set.spec;
  if (paused) return (member) => ending(member, now, progress.pausedAt ?? now);
  const mode = modeOf(input, progress);
  // None goes back to before a revision that completed without a machine that was held.
  if (dryRun || mode === 'Steady') return abandonment;
  const isStopped = progress.stopped !== undefined && rollsOut(mode);
  return (member) => {
    if (!isPending(member)) return undefined;
    if (isStopped) return stoppedEnding(member, input);
    return isHandled(member, mode, input) ? undefined : abandonment(member);
  };
}

/** A rollout that stopped begins nothing more. A machine that does not depend on it keeps its drain: its agent would ask and be permitted again. */
function stoppedEnding(member: MemberState, input: RolloutInput): RolloutAction | undefined {
  if (!isIndependent(member, input)) return ending(member, input.now);
  return hasBegun(member) ? undefined : (abandonment(member) ?? unwritten(member));
}

/**
 * Tells whether the rollout still decides about an update that took too long: it counts in its batch, or goes back. What is left of another
 * revision, or of a restart outside of the open batch, is out of service for nothing, and may be the very machine that the next one waits
 * for.
 */
function isHandled(
  member: MemberState,
  mode: RolloutMode,
  { progress, stable }: Pick<RolloutInput, 'progress' | 'stable'>,
): boolean {
  const { revision } = member;
  const isUpdate = revision === progress.updateRevision;
  if (mode === 'RollingBack') return isUpdate || revision === stable?.name;
  return rollsOut(mode) && isUpdate && !isLateRestart(member, progress);
}

/** Tells whether the machine runs its version already, and no batch waits for it. */
function isLateRestart(member: MemberState, { batch }: RolloutInput['progress']): boolean {
  return isInForce(member) && (member.batch === undefined || member.batch !== batch?.index);
}

/** Machines that a set left, or whose set was deleted: what is in work ends, and nothing else begins. */
export function planLeft({
  left,
  deleted,
  now,
}: Pick<RolloutInput, 'left' | 'deleted' | 'now'>): readonly RolloutAction[] {
  return [
    ...left.flatMap((member) => settlement(member) ?? ending(member, now) ?? renewal(member, now) ?? []),
    ...deleted.map((each): RolloutAction => {
      const because = `Machine ${each.machine} was deleted`;
      return { type: 'Release', ...each, outcome: 'Ambiguous', because };
    }),
  ];
}

/**
 * Ends an update that takes too long and is not taken back now: it ends with its grant, and so does the cordon. One that the
 * agent has begun to activate keeps its grant: nothing else may begin on that machine.
 */
function abandonment(member: MemberState): RolloutAction | undefined {
  const { step, reason, because, holdsGrant, readiness } = member;
  const isOver = holdsGrant && step === 'Failed' && reason === 'TimedOut' && readiness === 'Ready';
  if (!isOver || hasBegun(member)) return undefined;
  return { type: 'Settle', member, outcome: 'Failed', because };
}

function ending(member: MemberState, now: Date, pausedAt?: Date): RolloutAction | undefined {
  if (hasBegun(member)) return undefined;
  return abandonment(member) ?? unwritten(member) ?? planWithdrawal(member, now, pausedAt);
}

/**
 * Settles a grant that never reached the entries, as after a crash between the answer and the write: a renewal would begin what
 * it is for.
 */
function unwritten(member: MemberState): RolloutAction | undefined {
  const { step, reason, holdsGrant, grantEndsAt } = member;
  if (!holdsGrant || grantEndsAt || step !== 'InWork' || reason === NOT_OBSERVED) return undefined;
  return { type: 'Settle', member, outcome: 'Unused', because: 'its grant was not written before the end' };
}

export function hasBegun({ machine }: Pick<MemberState, 'machine'>): boolean {
  return (machine.status?.components ?? []).some(({ state }) => state !== undefined && BEGUN.has(state));
}

/** Tells whether the agent reports an entry of the set that it has not begun to activate. */
function isPending({ machine, revision }: MemberState): boolean {
  const own = machine.spec.components.filter(({ assignment }) => assignment?.revision === revision);
  return own.some((entry) => PENDING.has(reportOf(machine, entry)?.state ?? 'Absent'));
}

type ReportState = NonNullable<MachineComponentReport['state']>;
const BEGUN: ReadonlySet<ReportState> = new Set(['Activating', 'Probation', 'RollingBack']);
const PENDING: ReadonlySet<ReportState> = new Set([
  'Fetching',
  'Staged',
  'WaitingForGrant',
  'WaitingForDrain',
  'Blocked',
]);

/** A machine that failed keeps its grant until its Node serves: nothing else may begin on it before. */
function settlement(member: MemberState): RolloutAction | undefined {
  const { step, because, holdsGrant } = member;
  if (!holdsGrant) return undefined;
  if (step === 'Settled') return { type: 'Settle', member, outcome: settledOutcome(member), because };
  if (step === 'UnhealthyBefore') return { type: 'Settle', member, outcome: 'Ambiguous', because };
  // The host was compared, and nothing was changed.
  if (step === 'Differs') return { type: 'Settle', member, outcome: 'Unused', because };
  return hasGivenUp(member) ? { type: 'Settle', member, outcome: 'Failed', because } : undefined;
}

/** A grant for another revision that is in no entry was not used, or its settlement was interrupted. */
function settledOutcome({ revision, grant, grantEndsAt }: MemberState): GrantOutcome {
  const isForAnother = grant?.holder.revision !== undefined && grant.holder.revision !== revision;
  return isForAnother && !grantEndsAt ? 'Ambiguous' : 'Succeeded';
}

function hasGivenUp({ step, reason, isEstablished, readiness }: MemberState): boolean {
  const hasFailed = step === 'Failed' || step === 'Retriable';
  const isOver = hasFailed && reason !== 'TimedOut' && reason !== 'AgentSilent';
  return isOver && (!isEstablished || readiness === 'Ready');
}

/** Renews a grant, also where the entry does not have the grant any more, as after a plain `kubectl apply`. */
function renewal(member: MemberState, now: Date, back?: string): RolloutAction | undefined {
  const { step, holdsGrant, grant, revision } = member;
  if (!holdsGrant || !grant || step !== 'InWork') return undefined;
  const endsAt = permittedUntil(member, grant);
  if (endsAt && +endsAt - +now > RENEW_BEFORE_MS) return undefined;
  const recovery = back !== undefined && revision === back;
  const permission = { by: 'Renew', class: 'None', recovery } as const;
  return { type: 'Permit', member, permission, because: member.because };
}

/** A grant that may have just been settled is not given again before it would end. */
function permittedUntil(member: MemberState, { notAfter }: Pick<LedgerGrant, 'notAfter'>): Date | undefined {
  return member.grantEndsAt ?? (hasGivenBack(member) ? new Date(notAfter) : undefined);
}
