/** How many machines of a set are where. Pure. */
import type { RolloutCounts } from '../../../api/generated/types.ts';
import { entryDigest } from '../../../api/machine/entry-content.ts';
import { conditionStatus } from '../../../kube/objects/conditions.ts';
import type { MemberState } from '../machine/member-state.ts';
import { isPinned } from '../rollout/start-wait.ts';
import type { SetReport } from './report.ts';
import { machineWaits } from './wait.ts';

export function rolloutCounts(report: SetReport): RolloutCounts {
  const { input, conflicts } = report;
  const { members, left } = input;
  const countOf = (test: (member: MemberState) => boolean): number => members.filter(test).length;
  return {
    selected: members.length + conflicts.length,
    updated: countOf((member) => isUpdated(report, member)),
    ready: countOf(({ readiness, isSilent }) => readiness === 'Ready' && !isSilent),
    inProgress: countOf(({ holdsGrant, step }) => holdsGrant && step === 'InWork'),
    failed: countOf(hasFailed),
    rolledBack: countOf((member) => wasRolledBack(report, member)),
    skipped: left.length,
    held: countOf(({ hold }) => hold !== undefined),
    pinned: countOf(({ pinned }) => pinned.length > 0),
    drifted: countOf(isDrifted),
    blocked: blockedMachines(report),
  };
}

/** The revision that is asked for, also while the set is paused and the rollout of it has not begun. */
export function desiredRevision({ input }: Pick<SetReport, 'input'>): string | undefined {
  return 'revision' in input.desired ? input.desired.revision.name : undefined;
}

export function isUpdated(report: Pick<SetReport, 'input'>, { revision, step }: MemberState): boolean {
  return step === 'Settled' && revision !== undefined && revision === desiredRevision(report);
}

export function hasFailed({ step }: MemberState): boolean {
  return step === 'Failed' || step === 'Unhealthy';
}

/** Neither held nor pinned. */
export function takesPart({ input: { desired } }: Pick<SetReport, 'input'>, member: MemberState): boolean {
  const pinned = 'revision' in desired && isPinned(member, desired.revision);
  return member.hold === undefined && !pinned;
}

/** Its agent does not run an entry of the desired revision again. */
function wasRolledBack({ input: { desired } }: SetReport, { machine }: MemberState): boolean {
  if (!('revision' in desired)) return false;
  const digests = new Map(desired.revision.components.map((entry) => [entry.name, entryDigest(entry)]));
  return (machine.status?.components ?? []).some(({ name, deniedDigests = [] }) =>
    deniedDigests.includes(digests.get(name) ?? ''),
  );
}

export function isDrifted({ machine }: MemberState): boolean {
  return conditionStatus(machine.status?.conditions, 'DriftDetected') === 'True';
}

/** Of the machines that wait, those that wait for another object than the rollout itself. */
function blockedMachines(report: SetReport): number {
  const { members } = report.input;
  const waits = machineWaits(report);
  const limit = report.plan.limit.because;
  return members.filter(({ name, step }) => {
    const wait = waits.get(name);
    return step !== 'InWork' && wait?.blocker !== undefined && wait.because !== limit;
  }).length;
}
