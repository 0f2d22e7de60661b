/** Plans the next step of a change of version or flags: forward, or back before the point of no return. Pure. */
import type { SettledPlane } from '../../drivers/driver.ts';
import { RUN_MEMBERS } from '../../drivers/driver.ts';
import { memberRuns } from '../../drivers/runs.ts';
import type { HostingDecision, HostingInput, Upgrade } from '../input.ts';
import { memberReport, planMembers, planStart, waitForMembers } from '../members.ts';
import { programsMissing } from '../programs.ts';
import { isRotationMoving } from '../rotation/state.ts';
import { wait, withHint } from '../wait.ts';
import { changeHeld } from './closed.ts';
import { upgradeFailureReason } from './failure.ts';
import { differs, gateWait, isEtcdAhead, planChange } from './members.ts';
import { etcdStays, planPlaneRollback } from './rollback.ts';
import { CHANGES, isChange, recordStep, UPGRADE_STEPS, type UpgradeStep } from './steps.ts';
import { emulatingRuns, isTargetSettled, targetDigest, targetOf, targetProblem } from './target.ts';

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
  if (upgrade.digest !== targetDigest(targetOf(input))) {
    return (
      etcdStays(input, upgrade, settled) ?? recordStep(input, upgrade, 'RollingBack', 'the spec was changed')
    );
  }
  return planBeforeSettle(input, upgrade, settled);
}

function planBegin(input: HostingInput, settled: SettledPlane): HostingDecision | undefined {
  const isHealthy = input.inside !== undefined && !waitForMembers(input);
  if (input.plane.differences.length === 0) return planRepair(input, settled);
  if (!isHealthy || targetProblem(input) || changeHeld(input) || isRotationMoving(input)) return undefined;
  const { version } = input.hosted;
  const because = `the spec differs: ${input.plane.differences.join('; ')}`;
  return recordStep(input, upgradeTo(input, settled, version), 'Preflight', because);
}

function upgradeTo({ hosted, ...input }: HostingInput, { version: from }: SettledPlane, to: string): Upgrade {
  const digest = targetDigest(targetOf({ hosted, ...input }));
  const { retryToken } = hosted;
  return { from, to, digest, ...(retryToken === undefined ? {} : { retryToken }) };
}

/** The status was lost in the middle of a change, which the members still show: they get what is settled. */
function planRepair(input: HostingInput, settled: SettledPlane): HostingDecision | undefined {
  const runs = memberRuns(settled);
  if (!RUN_MEMBERS.some((member) => differs(input, member, runs))) return undefined;
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
  const runs = emulatingRuns(settled, targetOf(input));
  const failure = upgradeFailureReason(input, upgrade, runs);
  if (failure !== undefined) return planFailure(input, { upgrade, settled, message: failure });
  // Without the programs the version of the new etcd is not known, and its step would be skipped.
  const waiting = planMembers(input) ?? programsMissing(input, input.hosted.version) ?? planGate(input);
  if (waiting) return waiting;
  const { step } = upgrade;
  if (isChange(step)) {
    const next = { Etcd: 'APIServers', APIServers: 'Managers', Managers: 'Soak' } as const;
    const changed = CHANGES[step].filter((member) => memberReport(input, member));
    const because = `${changed.join(' and ')}: every gate holds`;
    return planChange(input, CHANGES[step], runs) ?? recordStep(input, upgrade, next[step], because);
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
  const { step, from, to, since = '' } = upgrade;
  if (step === 'Preflight') {
    const next: UpgradeStep = from === to ? 'Etcd' : 'Snapshot';
    return recordStep(input, upgrade, next, 'the control plane answers, and its programs are there');
  }
  if (step === 'Snapshot') {
    const isTaken = +(input.plane.snapshotAt ?? 0) >= Date.parse(since);
    if (isTaken) return recordStep(input, upgrade, 'Etcd', 'the snapshot was opened');
    return { act: { type: 'Snapshot', because: `${settled.version} may have to be restored` } };
  }
  return step === 'Soak' ? planSoak(input, upgrade) : planSettle(input);
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
    ? `fix the cause: the log is in ${input.plane.where}/logs; then`
    : `set spec.hosted.version and flags back to those of ${upgrade.from}, or`;
  const hint = `${back} set spec.hosted.retryToken to another value`;
  const about = ['Cluster', input.cluster.metadata.name] as const;
  return { wait: wait('UpgradeFailed', withHint(message, hint), about, 'stalled') };
}

const MAX_MESSAGE = 512;

function stepOf({ step }: Upgrade): UpgradeStep {
  return isChange(step) || step === 'Soak' ? step : 'Preflight';
}

/** A member that ended in between begins the soak again. */
function planSoak(input: HostingInput, upgrade: Upgrade): HostingDecision {
  const starts = RUN_MEMBERS.map((member) => +(memberReport(input, member)?.starts.at(-1) ?? 0)).filter(
    (startMs) => startMs <= +input.now,
  );
  const { soakSeconds } = input.hosted.upgrade;
  const end = new Date(Math.max(Date.parse(upgrade.since ?? ''), ...starts) + soakSeconds * 1000);
  if (input.now >= end) {
    return recordStep(input, upgrade, 'PointOfNoReturn', `every member was healthy for ${soakSeconds} s`);
  }
  const message = `every member has to be healthy until ${end.toISOString()}`;
  return { wait: wait('Soaking', message, ['Cluster', input.cluster.metadata.name]) };
}

function planSettle(input: HostingInput): HostingDecision {
  const { version } = input.hosted;
  return {
    act: { type: 'Settle', settled: targetOf(input), because: `${version} is not taken back from here on` },
  };
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
    planChange(input, RUN_MEMBERS, runs) ?? {
      act: { type: 'FinishUpgrade', upgrade, result: 'Completed', because },
    }
  );
}

function stalledIfLate(input: HostingInput, upgrade: Upgrade, decision: HostingDecision): HostingDecision {
  const failure = upgradeFailureReason(input, upgrade, memberRuns(targetOf(input)));
  if (failure === undefined || !decision.wait || decision.wait.isStalled) return decision;
  const hint = `the point of no return is passed: read the logs in ${input.plane.where}/logs`;
  const message = withHint(failure, hint);
  return { wait: { ...decision.wait, reason: 'UpgradeFailed', message, isStalled: true } };
}
