/** Plans the next step of a change of version or flags: forward, or back before the point of no return. Pure. */
import {
  CHANGEABLE_MEMBERS,
  type ChangeableMember,
  type MemberReport,
  RUN_MEMBERS,
  type RunMember,
  type SettledPlane,
} from '../../drivers/driver.ts';
import { memberRuns } from '../../drivers/runs.ts';
import type { HostingDecision, HostingInput, Upgrade } from '../input.ts';
import { memberReport, planMembers, planStart, waitForMembers } from '../members.ts';
import { logPlace } from '../names.ts';
import { programsMissing } from '../programs.ts';
import { isRotationMoving, rotationInWork } from '../rotation/state.ts';
import { wait, withHint } from '../wait.ts';
import { changeHeld } from './closed.ts';
import { controllersChange, controllersDifference, controllersHeld } from './controllers.ts';
import { upgradeFailureReason } from './failure.ts';
import { differs, gateWait, isEtcdAhead, isOtherRun, planChange } from './members.ts';
import { etcdStays, planPlaneRollback } from './rollback.ts';
import { changedMembers, isChange, recordStep, UPGRADE_STEPS, type UpgradeStep } from './steps.ts';
import {
  emulatingRuns,
  isTargetChanged,
  isTargetSettled,
  specTarget,
  targetDigest,
  targetOf,
  targetProblem,
} from './target.ts';

/** Undefined: nothing is to be changed now, or members have to answer first. */
export function planPlaneUpgrade(input: HostingInput): HostingDecision | undefined {
  const { settled, programs } = input.plane;
  const upgrade = input.cluster.status?.hosted?.upgrade;
  if (!settled) return undefined;
  if (!('versions' in programs)) return upgrade && planWithoutPrograms(input, settled);
  if (!upgrade) return planBegin(input, settled);
  return isTargetSettled(input, upgrade)
    ? planRaise(input, upgrade, settled)
    : planReversible(input, upgrade, settled);
}

function planWithoutPrograms(input: HostingInput, { version }: SettledPlane): HostingDecision | undefined {
  return planStart(input) ?? programsMissing(input, version);
}

function planReversible(input: HostingInput, upgrade: Upgrade, settled: SettledPlane): HostingDecision {
  if (upgrade.step === 'RollingBack') return planPlaneRollback(input, upgrade, settled);
  if (isTargetChanged(input, upgrade)) {
    const what = upgrade.controllers === undefined ? 'the spec' : 'the image of our controllers';
    return (
      etcdStays(input, upgrade, settled) ?? recordStep(input, upgrade, 'RollingBack', `${what} was changed`)
    );
  }
  return planBeforeSettle(input, upgrade, settled);
}

function planBegin(input: HostingInput, settled: SettledPlane): HostingDecision | undefined {
  const { differences } = input.plane;
  const repair = differences.length === 0 ? planRepair(input, settled) : undefined;
  if (repair || !mayBegin(input)) return repair;
  if (differences.length === 0) return planControllers(input, settled);
  const because = `the spec differs: ${differences.join('; ')}`;
  return recordStep(input, upgradeTo(input, settled, input.hosted.version), 'Preflight', because);
}

/** A change begins while every member answers, and nothing else holds it. */
function mayBegin(input: HostingInput): boolean {
  const isHealthy = input.inside !== undefined && !waitForMembers(input);
  return isHealthy && !targetProblem(input) && !changeHeld(input) && !isRotationMoving(input);
}

/** New controllers come after the kinds and roles that they need. */
function planControllers(input: HostingInput, settled: SettledPlane): HostingDecision | undefined {
  const upgrade = controllersChange(input, settled);
  if (!upgrade || input.inside?.isInstalled !== true || controllersHeld(input)) return undefined;
  const because = controllersDifference(input) ?? 'our controllers do not run the image that is recorded';
  return recordStep(input, upgrade, 'Managers', because);
}

function upgradeTo({ hosted, ...input }: HostingInput, { version: from }: SettledPlane, to: string): Upgrade {
  const digest = targetDigest(specTarget({ hosted, ...input }));
  const { retryToken } = hosted;
  return { from, to, digest, ...(retryToken === undefined ? {} : { retryToken }) };
}

/** The status was lost in the middle of a change, which the members still show: they get what is settled. */
function planRepair(input: HostingInput, settled: SettledPlane): HostingDecision | undefined {
  const runs = memberRuns(settled);
  // A rotation starts these again itself, also one that it was starting when hosting was killed, but as they are recorded.
  const behind = rotationInWork(input)?.behind ?? [];
  const isOther = (member: RunMember): boolean =>
    behind.includes(member) ? isOtherRun(input, member, runs) : differs(input, member, runs);
  if (!RUN_MEMBERS.some(isOther)) return undefined;
  const isNewer = memberReport(input, 'kube-apiserver')?.run?.version !== settled.version;
  const step = isNewer ? 'RollingBack' : 'PointOfNoReturn';
  const because = 'members differ from what is settled, and no change is recorded';
  const upgrade = upgradeTo(input, settled, settled.version);
  // Another digest than that of what is settled: otherwise it would be the way forward.
  return recordStep(input, isNewer ? { ...upgrade, digest: 'unknown' } : upgrade, step, because);
}

/** Plans the next step before the point of no return. */
function planBeforeSettle(input: HostingInput, upgrade: Upgrade, settled: SettledPlane): HostingDecision {
  const again = planClockReset(input, upgrade);
  if (again) return again;
  const target = targetOf(input);
  const runs = emulatingRuns(settled, target);
  const failure = upgradeFailureReason(input, upgrade, runs);
  if (failure !== undefined) return planFailure(input, { upgrade, settled, message: failure });
  // Without the programs the version of the new etcd is not known, and its step would be skipped.
  const waiting = planMembers(input) ?? programsMissing(input, target.version) ?? planGate(input);
  if (waiting) return waiting;
  const { step } = upgrade;
  if (isChange(step)) {
    const next = { Etcd: 'APIServers', APIServers: 'Managers', Managers: 'Soak' } as const;
    const changed = changedMembers(upgrade);
    const present = changed.filter((member) => memberReport(input, member));
    const because = `${present.join(' and ')}: every gate holds`;
    return planChange(input, changed, runs) ?? recordStep(input, upgrade, next[step], because);
  }
  return planOther(input, upgrade, settled);
}

/** A step that began in the future would take a snapshot again and again, and its time would not end. */
function planClockReset(input: HostingInput, upgrade: Upgrade): HostingDecision | undefined {
  const step = UPGRADE_STEPS.find((each) => each === upgrade.step);
  if (!step || Date.parse(upgrade.since ?? '') <= +input.now) return undefined;
  return recordStep(input, upgrade, step, 'the clock of this machine was set back');
}

function planOther(input: HostingInput, upgrade: Upgrade, settled: SettledPlane): HostingDecision {
  const { step, since = '' } = upgrade;
  if (step === 'Preflight') return planAfterPreflight(input, upgrade);
  if (step === 'Snapshot') {
    const isTaken = +(input.plane.snapshotAt ?? 0) >= Date.parse(since);
    if (isTaken) return recordStep(input, upgrade, 'Etcd', 'the snapshot was opened');
    return { act: { type: 'Snapshot', because: `${settled.version} may have to be restored` } };
  }
  return step === 'Soak' ? planSoak(input, upgrade) : planSettle(input);
}

/** Flags need no snapshot. */
function planAfterPreflight(input: HostingInput, upgrade: Upgrade): HostingDecision {
  const because = 'the control plane answers, and its programs are there';
  return recordStep(input, upgrade, upgrade.from === upgrade.to ? 'Etcd' : 'Snapshot', because);
}

function planGate(input: HostingInput): HostingDecision | undefined {
  const gate = gateWait(input);
  return gate && { wait: gate };
}

interface FailedUpgrade {
  readonly upgrade: Upgrade;
  readonly settled: SettledPlane;
  readonly message: string;
}

/** Returns to the former version, or waits for a person who asked for that. A new token tries the step again. */
function planFailure(input: HostingInput, { upgrade, settled, message }: FailedUpgrade): HostingDecision {
  const { onFailure } = input.hosted.upgrade;
  const { retryToken } = input.hosted;
  const isAhead = isEtcdAhead(input, settled);
  if (onFailure === 'Rollback' && !isAhead) {
    return recordStep(input, { ...upgrade, message: message.slice(0, MAX_MESSAGE) }, 'RollingBack', message);
  }
  if (retryToken !== undefined && retryToken !== upgrade.retryToken) {
    return recordStep(
      input,
      { ...upgrade, retryToken },
      stepOf(upgrade),
      'spec.hosted.retryToken was changed',
    );
  }
  const start = planStart(input);
  if (start) return start;
  const back = isAhead
    ? `fix the cause: read the logs ${logPlace(input.plane, 'etcd')}; then`
    : wayBack(upgrade);
  const hint = `${back} set spec.hosted.retryToken to another value`;
  const about = ['Cluster', input.cluster.metadata.name] as const;
  return { wait: wait('UpgradeFailed', withHint(message, hint), about, 'stalled') };
}

function wayBack({ from, controllers }: Upgrade): string {
  return controllers === undefined
    ? `set spec.hosted.version and flags back to those of ${from}, or`
    : 'give hosting the former image of kubenode, or';
}

const MAX_MESSAGE = 512;

function stepOf({ step }: Upgrade): UpgradeStep {
  return isChange(step) || step === 'Soak' ? step : 'Preflight';
}

/** A member that ended in between begins the soak again. */
function planSoak(input: HostingInput, upgrade: Upgrade): HostingDecision {
  const starts = soakingMembers(upgrade)
    .map((member) => answeringSinceMs(memberReport(input, member)))
    .filter((sinceMs) => sinceMs <= +input.now);
  const { soakSeconds } = input.hosted.upgrade;
  const end = new Date(Math.max(Date.parse(upgrade.since ?? ''), ...starts) + soakSeconds * 1000);
  if (input.now >= end) {
    return recordStep(input, upgrade, 'PointOfNoReturn', `every member was healthy for ${soakSeconds} s`);
  }
  const message = `every member has to be healthy until ${end.toISOString()}`;
  return { wait: wait('Soaking', message, ['Cluster', input.cluster.metadata.name]) };
}

function soakingMembers({ controllers }: Upgrade): readonly ChangeableMember[] {
  return controllers === undefined ? RUN_MEMBERS : CHANGEABLE_MEMBERS;
}

/** The hub starts pods again without telling anybody, but for the time since which they answer. */
function answeringSinceMs(report: MemberReport | undefined): number {
  return Math.max(+(report?.starts.at(-1) ?? 0), +(report?.readySince ?? 0));
}

function planSettle(input: HostingInput): HostingDecision {
  const settled = targetOf(input);
  const what =
    settled.controllers === input.plane.settled?.controllers ? settled.version : settled.controllers;
  return { act: { type: 'Settle', settled, because: `${what} is not taken back from here on` } };
}

/** After the point of no return: no member emulates another version any more. */
function planRaise(
  input: HostingInput,
  upgrade: Upgrade,
  settled: SettledPlane,
): HostingDecision | undefined {
  const runs = memberRuns(settled);
  const waiting = planMembers(input) ?? planGate(input);
  if (waiting) return waiting.wait ? stalledIfLate(input, upgrade, waiting) : waiting;
  const because = `every member runs ${settled.version} with the flags of the spec`;
  return (
    planChange(input, CHANGEABLE_MEMBERS, runs) ?? {
      act: { type: 'FinishUpgrade', upgrade, result: 'Completed', because },
    }
  );
}

function stalledIfLate(input: HostingInput, upgrade: Upgrade, decision: HostingDecision): HostingDecision {
  const failure = upgradeFailureReason(input, upgrade, memberRuns(targetOf(input)));
  if (failure === undefined || !decision.wait || decision.wait.isStalled) return decision;
  const hint = `the point of no return is passed: read the logs ${logPlace(input.plane, 'kube-apiserver')}`;
  const message = withHint(failure, hint);
  return { wait: { ...decision.wait, reason: 'UpgradeFailed', message, isStalled: true } };
}
