/** Counts the machines of a set by their state. Pure. */
import type { RolloutCounts } from '../../../api/generated/types.ts';
import { entryDigest } from '../../../api/machine/entry-content.ts';
import { conditionStatus } from '../../../kube/objects/conditions.ts';
import { hasGivenBack, type MemberState } from '../machine/member-state.ts';
import { isPinned } from '../rollout/start-wait.ts';
import type { SetReport } from './report.ts';
import { machineWaits } from './wait.ts';

export function rolloutCounts(report: SetReport): RolloutCounts {
  const { input, conflicts } = report;
  const { members, left } = input;
  const denied = deniedBy(desiredDigests(report));
  const countOf = (test: (member: MemberState) => boolean): number => members.filter(test).length;
  return {
    selected: members.length + conflicts.length,
    updated: countOf((member) => isUpdated(report, member)),
    ready: countOf(({ readiness, isSilent }) => readiness === 'Ready' && !isSilent),
    inProgress: countOf(isBeingUpdated),
    failed: countOf(hasFailed),
    rolledBack: countOf(denied),
    skipped: left.length,
    held: countOf(({ hold }) => hold !== undefined),
    pinned: countOf(({ pinned }) => pinned.length > 0),
    drifted: countOf(isDrifted),
    blocked: blockedMachines(report),
  };
}

/**
 * Tells whether a machine is being updated. One that is done is not counted: with the next machine it would look like more at
 * once than the set permits.
 */
function isBeingUpdated(member: MemberState): boolean {
  return member.holdsGrant && member.step === 'InWork' && !hasGivenBack(member);
}

/** Returns the revision that is asked for, also while the set is paused and the rollout of it has not begun. */
export function desiredRevision({ input }: Pick<SetReport, 'input'>): string | undefined {
  return 'revision' in input.desired ? input.desired.revision.name : undefined;
}

export function isUpdated(report: Pick<SetReport, 'input'>, { revision, step }: MemberState): boolean {
  return step === 'Settled' && revision !== undefined && revision === desiredRevision(report);
}

export function hasFailed({ step }: MemberState): boolean {
  return step === 'Failed' || step === 'Unhealthy';
}

/** Tells whether a machine is neither held nor pinned. */
export function takesPart({ input: { desired } }: Pick<SetReport, 'input'>, member: MemberState): boolean {
  const pinned = 'revision' in desired && isPinned(member, desired.revision);
  return member.hold === undefined && !pinned;
}

type Digests = ReadonlyMap<string, string>;

/** Returns the digests of the entries of the desired revision, by name. They are the same for all machines. */
function desiredDigests({ input: { desired } }: SetReport): Digests {
  const components = 'revision' in desired ? desired.revision.components : [];
  return new Map(components.map((entry) => [entry.name, entryDigest(entry)]));
}

/** Returns a function that tells whether the agent of a machine does not run one of these entries again. */
function deniedBy(digests: Digests): (member: MemberState) => boolean {
  return ({ machine }) =>
    (machine.status?.components ?? []).some(({ name, deniedDigests = [] }) => {
      const digest = digests.get(name);
      return digest !== undefined && deniedDigests.includes(digest);
    });
}

export function isDrifted({ machine }: MemberState): boolean {
  return conditionStatus(machine.status?.conditions, 'DriftDetected') === 'True';
}

/** Counts the waiting machines that wait for another object than the rollout itself. */
function blockedMachines(report: SetReport): number {
  const { members } = report.input;
  const waits = machineWaits(report);
  const limit = report.plan.limit.because;
  return members.filter(({ name, step }) => {
    const wait = waits.get(name);
    return step !== 'InWork' && wait?.blocker !== undefined && wait.because !== limit;
  }).length;
}
