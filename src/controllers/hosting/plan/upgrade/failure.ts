/** Decides when a change of a control plane has failed: a member ends again and again, or a gate does not hold in time. Pure. */
import { type ChangeableMember, type MemberReport, RUN_MEMBERS } from '../../drivers/driver.ts';
import type { MemberRuns } from '../../drivers/runs.ts';
import type { HostingInput, HostingWait, Upgrade } from '../input.ts';
import { crashingReason, crashReason, memberReport } from '../members.ts';
import { differs, gateWait } from './members.ts';
import { changedMembers, isChange } from './steps.ts';

export function upgradeFailureReason(
  input: HostingInput,
  upgrade: Upgrade,
  runs: MemberRuns,
): string | undefined {
  const crash = crashOf(input, upgrade);
  if (crash !== undefined) return crash;
  const gate = gateWait(input);
  if (!gate || isPending(input, { upgrade, runs, gate })) return undefined;
  const allowed = allowedSeconds(input, upgrade);
  if (+input.now - sinceMs(input, upgrade) <= allowed * 1000) return undefined;
  return `step ${upgrade.step} made no progress for ${allowed} s: ${gate.message}`;
}

/** A pod that ends counts where the step has changed it: others may have ended long before. */
function crashOf(input: HostingInput, upgrade: Upgrade): string | undefined {
  const ended = RUN_MEMBERS.map((member) => crashReason(memberReport(input, member), input.now));
  const pods = changedMembers(upgrade).map((member) => crashingReason(memberReport(input, member)));
  return [...ended, ...pods].find((reason) => reason !== undefined);
}

/**
 * Tells whether the step waits for a grant, for a person or for hosting itself: nothing has failed then. It does not where a member that was
 * changed does not answer, or does not work: that one keeps the next from its change.
 */
function isPending(input: HostingInput, { upgrade, runs, gate }: OpenStep): boolean {
  const { step } = upgrade;
  if (step === 'Snapshot') return true;
  if (gate.reason === 'CanaryFailed' && hasChanged(input, upgrade, runs)) return false;
  const isWaiting = (member: ChangeableMember): boolean =>
    isNotStarted(memberReport(input, member)) || (isChange(step) && differs(input, member, runs));
  const members = membersOf(upgrade);
  const isSilent = (member: ChangeableMember): boolean =>
    (memberReport(input, member)?.state ?? 'Ready') !== 'Ready' && !isWaiting(member);
  return members.some(isWaiting) && !members.some(isSilent);
}

interface OpenStep {
  readonly upgrade: Upgrade;
  readonly runs: MemberRuns;
  /** The condition of the next change, which does not hold. */
  readonly gate: HostingWait;
}

/** Tells whether the step has changed one of its members. */
function hasChanged(input: HostingInput, upgrade: Upgrade, runs: MemberRuns): boolean {
  return changedMembers(upgrade).some(
    (member) => memberReport(input, member) && !differs(input, member, runs),
  );
}

function isNotStarted(report: MemberReport | undefined): boolean {
  return report?.state === 'Stopped' && report.starts.length === 0;
}

/** The time begins with the first start after the change: later starts of a member that hangs must not extend it. */
function sinceMs(input: HostingInput, upgrade: Upgrade): number {
  const { since = '' } = upgrade;
  const starts = membersOf(upgrade).map((member) => +(memberReport(input, member)?.starts[0] ?? 0));
  return Math.max(Date.parse(since), ...starts);
}

function membersOf(upgrade: Upgrade): readonly ChangeableMember[] {
  const changed = changedMembers(upgrade);
  return changed.length > 0 ? changed : RUN_MEMBERS;
}

function allowedSeconds({ hosted }: HostingInput, { step }: Upgrade): number {
  const { progressDeadlineSeconds, soakSeconds } = hosted.upgrade;
  return progressDeadlineSeconds + (step === 'Soak' ? soakSeconds : 0);
}
