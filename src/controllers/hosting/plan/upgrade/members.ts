/** Compares the members with what they are to be started with, and plans the change of one. Pure. */
import { UPGRADE_CANARY } from '../../../../api/names.ts';
import { canonicalJson } from '../../../../kube/objects/digest.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import {
  type ChangeableMember,
  ETCD_MEMBERS,
  isEtcdMember,
  type MemberReport,
  type MemberRun,
  type SettledPlane,
} from '../../drivers/driver.ts';
import { EMULATED_VERSION, type MemberRuns } from '../../drivers/runs.ts';
import { backupRunning } from '../etcd/backup.ts';
import type { HostingDecision, HostingInput } from '../input.ts';
import { disruptMember, memberReport, waitForMembers } from '../members.ts';
import { programsMissing } from '../programs.ts';
import { wait } from '../wait.ts';
import { isNewerMinor } from './versions.ts';

/** Tells whether the member has to be stopped, or another start has to be recorded for it. */
export function differs(input: HostingInput, member: ChangeableMember, runs: MemberRuns): boolean {
  const report = memberReport(input, member);
  const isCompared = report?.run !== undefined && runs[member] !== undefined;
  return isCompared && (report.isOutdated === true || isOtherRun(input, member, runs));
}

/** Tells whether another start is recorded for the member, whether or not its workload has that. */
export function isOtherRun(input: HostingInput, member: ChangeableMember, runs: MemberRuns): boolean {
  const report = memberReport(input, member);
  const desired = runs[member];
  return report?.run !== undefined && desired !== undefined && !isSame(report, desired);
}

/** A version that is not known yet is not another one. */
function isSame({ run, version: observed }: MemberReport, desired: MemberRun): boolean {
  if (!run) return true;
  const version = run.version ?? observed ?? desired.version;
  return (
    (desired.version === undefined || version === desired.version) &&
    canonicalJson(besideVersion(run)) === canonicalJson(besideVersion(desired))
  );
}

/** A member that reserves nothing is the same as one that never could. */
function besideVersion({ flags, image, requests = {} }: MemberRun): object {
  return { flags, requests, ...optional('image', image) };
}

/** Tells whether etcd may have written data of a newer minor version, which the settled version cannot read. */
export function isEtcdAhead(input: HostingInput, { etcdVersion: settled }: SettledPlane): boolean {
  const versions = ETCD_MEMBERS.map((member) => memberReport(input, member)?.run?.version);
  return versions.some(
    (version) => version !== undefined && settled !== undefined && isNewerMinor(settled, version),
  );
}

/**
 * Plans the change of the first of these members that differs, and of one that does not answer before the others. Undefined: none does. No member is stopped whose other program is missing:
 * hosting may have been started with other folders in the middle of a change.
 */
export function planChange(
  input: HostingInput,
  members: readonly ChangeableMember[],
  runs: MemberRuns,
): HostingDecision | undefined {
  const differing = members.filter((each) => differs(input, each, runs));
  const member = differing.find((each) => memberReport(input, each)?.state !== 'Ready') ?? differing[0];
  const run = member && runs[member];
  if (!run) return undefined;
  const { version } = run;
  const missing = version === undefined ? undefined : programsMissing(input, version, member);
  if (missing) return missing;
  const backup = backupWait(input, member);
  if (backup) return { wait: backup };
  return disruptMember(input, {
    type: 'Change',
    member,
    run,
    because: changeText(run),
  });
}

/** A backup reads from a member of etcd that answers. */
function backupWait(input: HostingInput, member: ChangeableMember): HostingDecision['wait'] {
  const isRead = isEtcdMember(member) && memberReport(input, member)?.state === 'Ready';
  const running = isRead ? backupRunning(input) : undefined;
  return running === undefined ? undefined : wait('BackupRunning', running, ['Process', member]);
}

function changeText({ version = 'unknown', flags, image }: MemberRun): string {
  if (image !== undefined) return `it is to run ${image}`;
  const { [EMULATED_VERSION]: emulated } = flags;
  return `it is to run ${version}${emulated === undefined ? ' with the flags of the spec' : `, which emulates ${emulated}`}`;
}

/** Returns what has to hold before the next member is changed, and does not. */
export function gateWait(input: HostingInput): HostingDecision['wait'] {
  const { canary } = input;
  const starting = waitForMembers(input);
  if (starting || canary === 'Passed') return starting;
  const message = canary?.problem ?? 'the API server was not asked yet';
  return wait(
    'CanaryFailed',
    `the canary of the API server (a write, a read, a watch, in a rotation a token) failed: ${message}`,
    ['ConfigMap', UPGRADE_CANARY],
  );
}
