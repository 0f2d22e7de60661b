/** Builds what the agent reports of its machine: its part of Machine.status. Pure. */
import type { MachineComponentReport, MachineDrift, MachineStatus } from '../../api/generated/types.ts';
import { DRAIN_PENDING } from '../../api/machine/drain-wait.ts';
import { waitingSince } from '../../api/status/waiting.ts';
import { type Condition, withCondition } from '../../kube/objects/conditions.ts';
import { byCode } from '../../kube/objects/digest.ts';
import { optional } from '../../kube/objects/optional.ts';
import { truncate } from '../../kube/objects/truncate.ts';
import type { DriftFinding } from '../component/drift/plan.ts';
import type { DesiredComponent } from '../component/input.ts';
import type { ComponentWait } from '../component/operation.ts';
import type { UnitStatus } from '../host/port.ts';
import type { ComponentDrift } from '../journal/drift.ts';
import { type ComponentProgress, NEVER } from '../journal/progress.ts';
import type { TransitionFailure } from '../journal/record.ts';
import type { Target } from '../target/target.ts';
import { fitStatus } from './fit.ts';

export interface ReportedComponent {
  readonly desired: DesiredComponent;
  /** The entry of the Machine, where there is one. */
  readonly entry?: { readonly componentRef: string; readonly digest: string };
  readonly progress: ComponentProgress;
  readonly drift: ComponentDrift;
  readonly findings: readonly DriftFinding[];
  /** The target in force; `previous` is the one before it. */
  readonly current?: Target;
  readonly previous?: Target;
  readonly units: ReadonlyMap<string, UnitStatus>;
  readonly ready?: boolean;
  readonly wait?: ComponentWait;
  readonly failure?: TransitionFailure;
}

export type ReportState = NonNullable<MachineComponentReport['state']>;
export type AgentStatus = Required<Pick<MachineStatus, 'components' | 'drift' | 'conditions'>>;

const MAX_ERROR = 1024;
const MAX_DRIFT = 8;
const MAX_NAMES = 5;
const DRIFT_WINDOW_MS = 10 * 60_000;

type ConditionUpdate = Omit<Condition, 'lastTransitionTime'>;

export interface ReportInput {
  readonly components: ReadonlyMap<string, ReportedComponent>;
  readonly generation: number;
  /** The last report: moments at which a wait or a condition began are kept. */
  readonly before?: AgentStatus;
  /** The reason why the newest state of the Machine is not accepted. */
  readonly refused?: string;
  /** The reason why no state of the Machine was ever accepted: then nothing is known of its components. */
  readonly missing?: string;
  /** The reason why changes of files are found by scans alone. */
  readonly unwatched?: string;
  readonly now: Date;
}

export function reportStatus(input: ReportInput): AgentStatus {
  const { components, generation, before, now } = input;
  const rows = [...components].toSorted(([a], [b]) => byCode(a, b));
  const reports = rows.map(([name, each]) =>
    componentReport(
      each,
      now,
      before?.components.find((report) => report.name === name),
    ),
  );
  const updates =
    input.missing === undefined ? knownConditions(rows, reports, input) : unknownConditions(input.missing);
  const conditions = updates.reduce<readonly Condition[]>(
    (all, update) => withCondition(all, { ...update, observedGeneration: generation }, now),
    before?.conditions ?? [],
  );
  return fitStatus({ components: reports, drift: recentDrift(rows, now), conditions });
}

/** The reason before a first state of the Machine. The header of `kubenode agent status` shows it, too. */
export const NO_DESIRED_STATE = 'NoDesiredState';

function unknownConditions(missing: string): readonly ConditionUpdate[] {
  return ['ComponentsReady', 'UpToDate', 'DriftDetected'].map((type) =>
    condition(type, 'Unknown', NO_DESIRED_STATE, [missing]),
  );
}

function knownConditions(
  rows: readonly (readonly [string, ReportedComponent])[],
  reports: readonly MachineComponentReport[],
  { refused, unwatched, now }: ReportInput,
): readonly ConditionUpdate[] {
  const findings = rows.flatMap(([, each]) => each.findings);
  return [
    readyCondition(reports),
    upToDateCondition(rows, refused),
    withNote(driftCondition(findings, recentDrift(rows, now)), unwatched),
  ];
}

function componentReport(
  component: ReportedComponent,
  now: Date,
  before: MachineComponentReport | undefined,
): MachineComponentReport {
  const { progress, drift, units, wait } = component;
  const waiting = wait && waitingSince(wait, before?.waiting, now);
  return {
    name: progress.component,
    ...versionReport(component),
    state: reportState(component),
    // What the journal does not know waits since its entry came.
    ...optional('since', progress.since === NEVER ? waiting?.since : progress.since),
    corrections: drift.corrections.at(-1)?.total ?? 0,
    restarts: [...units.values()].reduce((sum, { restarts }) => sum + restarts, 0),
    deniedDigests: progress.denied,
    ...errorReport(component.failure ?? progress.failure),
    ...optional('waiting', waiting),
  };
}

function errorReport(error: TransitionFailure | undefined): Pick<MachineComponentReport, 'error'> {
  return error ? { error: { code: error.code, message: truncate(error.message, MAX_ERROR) } } : {};
}

function versionReport({
  entry,
  current,
  previous,
  units,
  ready,
}: ReportedComponent): Partial<MachineComponentReport> {
  return {
    ...optional('desiredRef', entry?.componentRef),
    ...optional('previousRef', previous?.ref),
    ...optional('ready', ready),
    ...(current && { currentRef: current.ref, digest: current.digest, running: isRunning(current, units) }),
  };
}

/**
 * The states of components that wait, by reason. Restarts of units during a wait for a grant are those of a staged version or of a process
 * on wrong content.
 */
const WAITING: Readonly<Record<string, ReportState>> = {
  GrantNeeded: 'WaitingForGrant',
  [DRAIN_PENDING]: 'WaitingForDrain',
  DependencyNotCommitted: 'Blocked',
  InvalidEntry: 'Blocked',
  NoWayBack: 'Blocked',
  StillNeeded: 'Blocked',
  TargetDamaged: 'Blocked',
  Orphaned: 'Orphaned',
  SelfProbation: 'Probation',
};

const STEPS: Readonly<Record<string, ReportState>> = {
  Fetching: 'Fetching',
  Verified: 'Fetching',
  Staged: 'Staged',
  Probation: 'Probation',
};

export function reportState({ progress, wait }: Pick<ReportedComponent, 'progress' | 'wait'>): ReportState {
  const { transition, state } = progress;
  const waiting = wait && WAITING[wait.reason];
  if (!transition) return waiting ?? state;
  if (transition.direction === 'Back') return 'RollingBack';
  const step = STEPS[transition.step];
  return waiting ?? step ?? 'Activating';
}

function isRunning({ units }: Target, found: ReadonlyMap<string, UnitStatus>): boolean {
  return units.every(({ name, running }) => {
    const status = found.get(name);
    return !running || (status?.active === 'Active' && !status.process?.isSuspended);
  });
}

function readyCondition(reports: readonly MachineComponentReport[]): ConditionUpdate {
  const bad = reports.filter(
    ({ state, running, ready }) =>
      state !== 'Absent' && !(['Committed', 'Orphaned'].includes(state ?? '') && running && ready !== false),
  );
  const unknown = reports.some(({ state, ready }) => state === 'Committed' && ready === undefined);
  if (bad.length > 0) {
    return condition('ComponentsReady', 'False', 'ComponentsNotReady', bad.map(explainReport));
  }
  if (unknown) {
    return condition('ComponentsReady', 'Unknown', 'ProbesPending', ['probes have not run yet']);
  }
  return condition('ComponentsReady', 'True', 'AsWanted', ['every component is committed and runs']);
}

function explainReport({ name, state, running, ready, waiting, error }: MachineComponentReport): string {
  if (waiting) return `${name} is ${state}: ${waiting.message}`;
  if (error) return `${name} is ${state}: ${error.message}`;
  if (running === false) return `${name} does not run`;
  return ready === false ? `probes of ${name} fail` : `${name} is ${state}`;
}

function upToDateCondition(
  components: readonly (readonly [string, ReportedComponent])[],
  refused: string | undefined,
): ConditionUpdate {
  if (refused !== undefined) return condition('UpToDate', 'False', 'NotAccepted', [refused]);
  const behind = components
    .filter(([, each]) => !isUpToDate(each))
    .map(([name]) => `${name} is not at its entry`);
  return behind.length > 0
    ? condition('UpToDate', 'False', 'ComponentsBehind', behind)
    : condition('UpToDate', 'True', 'AsWanted', ['every component is at its entry']);
}

function isUpToDate({ desired, progress }: ReportedComponent): boolean {
  if (desired.state === 'Orphaned') return true;
  if (desired.state === 'Absent') return progress.current === undefined && !progress.transition;
  return desired.state === 'Present' && progress.current === desired.target.id && !progress.transition;
}

function driftCondition(findings: readonly DriftFinding[], recent: readonly MachineDrift[]): ConditionUpdate {
  const conflicts = findings.filter(({ action }) => action === 'GaveUp');
  if (conflicts.length > 0) {
    return condition('DriftDetected', 'True', 'DriftConflict', conflicts.map(explainConflict));
  }
  for (const [action, reason] of OPEN) {
    const open = findings.filter((each) => each.action === action).map(({ because }) => because);
    if (open.length > 0) return condition('DriftDetected', 'True', reason, open);
  }
  if (recent.length === 0) {
    return condition('DriftDetected', 'False', 'AsWanted', ['no difference was found']);
  }
  // Nothing differs any more: `status.drift` and the reason remember it for as long as DRIFT_WINDOW_MS.
  return condition(
    'DriftDetected',
    'False',
    'Corrected',
    recent.map(({ path = '' }) => `${path} was corrected`),
  );
}

function withNote(update: ConditionUpdate, note: string | undefined): ConditionUpdate {
  if (note === undefined) return update;
  return { ...update, message: truncate(`${update.message}; ${note}`, MAX_ERROR) };
}

/** The results of open drift, the most urgent first. */
const OPEN = [
  ['Waiting', 'RetryPending'],
  ['Reported', 'Reported'],
] as const;

function explainConflict({ subject, kind, because }: DriftFinding): string {
  if (kind === 'Process') {
    return `${because}, and a restart does not change that: see what else decides which program it starts, for example a drop-in, with: systemctl cat ${subject}`;
  }
  // The kernel tells who writes a file only while it is asked to.
  const path = kind === 'Unit' ? UNIT_FOLDER : subject;
  return `${because}. Another program changes it again and again: stop that program, which this finds: auditctl -p wa -w ${path}`;
}

const UNIT_FOLDER = '/etc/systemd/system';

/** Returns the recent drift, newest first. A path that was given up or is only reported comes from the last observation. */
function recentDrift(
  components: readonly (readonly [string, ReportedComponent])[],
  now: Date,
): readonly MachineDrift[] {
  const since = new Date(now.getTime() - DRIFT_WINDOW_MS).toISOString();
  const corrected = components.flatMap(([component, { drift }]) =>
    drift.corrections
      .filter(({ at }) => at > since)
      .map(
        ({ subject, kind, at }): MachineDrift => ({
          component,
          path: subject,
          kind,
          action: 'Corrected',
          at,
        }),
      ),
  );
  const open = components.flatMap(([component, { findings, drift }]) =>
    findings
      .filter(({ action }) => action !== 'Corrected')
      .map(({ subject, kind, action }): MachineDrift => {
        const at = drift.corrections.findLast((each) => each.subject === subject)?.at;
        return { component, path: subject, kind, action, ...(at !== undefined && { at }) };
      }),
  );
  const sorted = corrected.toSorted((a, b) => byCode(b.at ?? '', a.at ?? ''));
  return [...open, ...sorted].slice(0, MAX_DRIFT);
}

function condition(
  type: string,
  status: Condition['status'],
  reason: string,
  messages: readonly string[],
): ConditionUpdate {
  const shown = messages.slice(0, MAX_NAMES);
  const more = messages.length > MAX_NAMES ? `; and ${messages.length - MAX_NAMES} more` : '';
  return { type, status, reason, message: truncate(`${shown.join('; ')}${more}`, MAX_ERROR) };
}
