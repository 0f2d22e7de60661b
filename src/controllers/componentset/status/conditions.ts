/** The conditions of a component set. Pure. */
import type { FailedMachine } from '../../../api/generated/types.ts';
import { inactiveFields, inactiveFieldText } from '../../../api/inactive/find.ts';
import { versionsText } from '../../../api/machine/versions-text.ts';
import type { Reason } from '../../../api/names.ts';
import type { ConditionUpdate } from '../../../kube/objects/conditions.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import { resolveIntOrPercent } from '../../../rollout/int-or-percent.ts';
import { isAvailable, type MemberState } from '../machine/member-state.ts';
import { nameList } from '../machine/name-list.ts';
import { isStopped } from '../rollout/stopped.ts';
import { desiredRevision, hasFailed, isDrifted, isUpdated, takesPart } from './counts.ts';
import { describeFailures } from './failed-machines.ts';
import { setFinding as finding } from './finding.ts';
import { gatesFinding } from './gates.ts';
import type { SetReport } from './report.ts';
import { isWorking, machineWaits } from './wait.ts';

export interface Situation {
  readonly wait: Explanation | undefined;
  readonly failed: readonly FailedMachine[];
  /** Set when nothing has progressed for too long. */
  readonly stalledSince: Date | undefined;
}

const UP_TO_DATE = 'UpToDate';
/** An empty set is at its end (ROL-40), but a mistake in a selector must not look like success. */
const NO_MACHINES = 'NoMachines';

export function setFindings(report: SetReport, situation: Situation): readonly ConditionUpdate[] {
  const parts = [upToDateFinding(report), availableFinding(report), gatesFinding(report)];
  return [
    readyFinding(report, situation, parts),
    ...parts,
    progressingFinding(report, situation),
    stalledFinding(report, situation),
    conflictFinding(report),
    driftFinding(report),
  ];
}

/** Why the first of the parts is not True; but a revision that was rolled back stays the reason until git gives another one. */
function readyFinding(
  { plan }: SetReport,
  { failed }: Situation,
  parts: readonly ConditionUpdate[],
): ConditionUpdate {
  if (plan.mode === 'RollingBack' || plan.mode === 'Refused') {
    const message = [plan.limit.because, describeFailures(failed)].filter(Boolean).join('; ');
    return finding('Ready', 'False', 'RolledBack', message);
  }
  const open =
    parts.find(({ status }) => status === 'False') ?? parts.find(({ status }) => status !== 'True');
  const empty = parts.find(({ reason }) => reason === NO_MACHINES);
  if (!open && empty) return finding('Ready', 'True', NO_MACHINES, empty.message);
  if (!open) return finding('Ready', 'True', 'AsWanted', 'every machine is at the revision, and healthy');
  // What is behind is a whole sentence.
  const message = open.type === UP_TO_DATE ? open.message : `${open.type}: ${open.message}`;
  return finding('Ready', open.status, open.reason, message);
}

function upToDateFinding(report: SetReport): ConditionUpdate {
  const type = UP_TO_DATE;
  const { input, plan, conflicts } = report;
  if (desiredRevision(report) === undefined) {
    return finding(type, 'False', plan.limit.reason, plan.limit.because);
  }
  const taking = input.members.filter((member) => takesPart(report, member));
  const behind = taking.filter((member) => !isUpdated(report, member));
  const counts = `${taking.length - behind.length} of ${taking.length} machines run ${versionsOf(report)}`;
  const [conflict] = conflicts;
  if (behind.length > 0) return behindFinding(report, behind, counts);
  if (conflict) return finding(type, 'False', conflict.conflict.reason, conflict.conflict.because);
  if (input.members.length === 0) return finding(type, 'True', NO_MACHINES, `${counts}: none is selected`);
  return finding(type, 'True', 'AsWanted', counts);
}

/** A host that was adopted and differs is behind by its own policy: it is named apart from the machines that are on their way. */
function behindFinding(report: SetReport, behind: readonly MemberState[], counts: string): ConditionUpdate {
  const differing = behind.filter(({ step }) => step === 'Differs');
  const others = behind.filter((member) => !differing.includes(member));
  const texts = [
    counts,
    ...(others.length > 0 ? [behindText(report, others)] : []),
    ...(differing.length > 0 ? [differenceText(differing)] : []),
  ];
  const reason = others.length > 0 ? 'MachinesBehind' : 'HostDiffers';
  return finding(UP_TO_DATE, 'False', reason, texts.join('; '));
}

const CONVERGE = 'set spec.import.existingNode to Converge there, or commit the next version';

function differenceText(differing: readonly MemberState[]): string {
  const [first] = differing;
  const names = `adopted and left as their hosts are: ${differing.length} (${nameList(differing)})`;
  return `${names}; to change them, ${CONVERGE}; ${first?.name}: ${first?.because}`;
}

function versionsOf({ input: { desired } }: SetReport): string {
  return 'revision' in desired ? versionsText(desired.revision.components) : '';
}

/** `m-4: web: probe greets answered 500; also not: m-5`: the first machine by what is most likely the cause, and why it is behind. */
function behindText(report: SetReport, behind: readonly MemberState[]): string {
  const waits = machineWaits(report);
  const first = behind.find(hasFailed) ?? behind.find(isInWork) ?? behind.find(({ name }) => waits.has(name));
  if (!first) return `not: ${nameList(behind)}`;
  const because = causeOf(first, waits.get(first.name)?.because);
  const own = `${first.name}: ${because.replace(`${first.name}: `, '')}`;
  const others = behind.filter(({ name }) => name !== first.name);
  return others.length > 0 ? `${own}; also not: ${nameList(others)}` : own;
}

function isInWork({ step, holdsGrant }: MemberState): boolean {
  return step === 'InWork' && holdsGrant;
}

/** A machine that was started is behind by what it does itself, and another one by what it waits for. */
function causeOf(member: MemberState, waitsFor: string | undefined): string {
  const isStarted = hasFailed(member) || member.holdsGrant;
  return isStarted || waitsFor === undefined ? member.because : waitsFor;
}

function availableFinding({ input: { set, members } }: SetReport): ConditionUpdate {
  const unavailable = members.filter((member) => !isAvailable(member));
  const most = resolveIntOrPercent(set.spec.rollout.maxUnavailable, members.length);
  const counts = `machines unavailable: ${unavailable.length}, allowed: ${most}`;
  if (unavailable.length <= most) return finding('Available', 'True', 'AsWanted', counts);
  const [first, ...others] = unavailable;
  const because = `${first?.name}: ${first?.unavailable}`;
  const more = others.length > 0 ? `; also: ${nameList(others)}` : '';
  return finding('Available', 'False', 'TooManyUnavailable', `${counts}; ${because}${more}`);
}

/** False only while nothing goes on, so that phase and columns show why. */
function progressingFinding(report: SetReport, { wait }: Situation): ConditionUpdate {
  const { limit } = report.plan;
  const { reason, because } = limit.reason === 'RollingBack' ? limit : (wait ?? limit);
  const isWaiting = wait !== undefined && (isStopped(wait) || !isWorking(report));
  return finding('Progressing', isWaiting ? 'False' : 'True', reason, because);
}

/** A failed rollout that goes back is not stalled before it is back. */
function stalledFinding(
  { plan, input }: SetReport,
  { wait, failed, stalledSince }: Situation,
): ConditionUpdate {
  const { limit } = plan;
  if (NEEDS_PERSON.has(limit.reason)) {
    const message = [limit.because, describeFailures(failed)].filter(Boolean).join('; ');
    return finding('Stalled', 'True', limit.reason, message);
  }
  const inactive = inactiveFields(input.set).map(inactiveFieldText);
  if (inactive.length > 0) return finding('Stalled', 'True', 'NotSupported', inactive.join('; '));
  if (!stalledSince) return finding('Stalled', 'False', 'AsWanted', unstalledText(wait ?? limit));
  const { reason, because, blocker } = wait ?? limit;
  const object = blocker ? `${blocker.kind} ${blocker.name}: ` : '';
  const message = `no progress since ${stalledSince.toISOString()}: ${reason}: ${object}${because}`;
  return finding('Stalled', 'True', 'ProgressDeadlineExceeded', message);
}

/** Nothing has failed while a rollout waits for these, and only a person lets it continue. */
const DECIDED_BY_PERSON: ReadonlySet<string> = new Set<Reason>([
  'ApprovalRequired',
  'GateLoosened',
  'HeldByPartition',
  'Paused',
]);

function unstalledText({ reason }: Explanation): string {
  return DECIDED_BY_PERSON.has(reason)
    ? `nothing has failed; a person lets it continue: ${reason}`
    : 'no person is needed';
}

/** That no time and no other controller ends. */
const NEEDS_PERSON: ReadonlySet<string> = new Set([
  'BatchUnproven',
  'ComponentRefused',
  'ComponentYanked',
  'FailureBudgetSpent',
  'GateFailed',
  'GateInconclusive',
  'HealthUnknown',
  'NothingProven',
  'ParameterMissing',
  'ParameterUnknown',
  'RollbackImpossible',
  'RolledBack',
  'WrongComponent',
]);

function conflictFinding({ conflicts }: SetReport): ConditionUpdate {
  const [first] = conflicts;
  if (!first) return finding('Conflict', 'False', 'AsWanted', 'no other set names the same components');
  const more = conflicts.length > 1 ? ` (and ${conflicts.length - 1} more machines)` : '';
  return finding('Conflict', 'True', first.conflict.reason, `${first.conflict.because}${more}`);
}

function driftFinding({ input: { members } }: SetReport): ConditionUpdate {
  const drifted = members.filter(isDrifted);
  if (drifted.length === 0) return finding('DriftDetected', 'False', 'AsWanted', 'no machine reports drift');
  return finding('DriftDetected', 'True', 'DriftReported', `${drifted.length}: ${nameList(drifted)}`);
}
