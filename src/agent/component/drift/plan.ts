/**
 * Keeps the version in force as it was committed. Writing back, reloading and starting what does not run never wait;
 * only a process that started on wrong content or with other authorities, or whose Node is missing, is restarted under a grant. Pure.
 */

import type { UnitDefinition, UnitProcess } from '../../host/port.ts';
import type { CorrectionRecord, DriftKind, ProcessRecord } from '../../journal/record.ts';
import type { Target } from '../../target/target.ts';
import type { ComponentInput } from '../input.ts';
import type { ComponentAction, ComponentPlan, ComponentWait } from '../operation.ts';
import { operate } from '../placements.ts';
import { findDifferences, type HostDifference } from './differences.ts';
import { unregistered } from './registration.ts';
import { describeTries, runTries } from './run-retries.ts';
import { outdatedTrust } from './trust.ts';

/** More corrections of one path than this in ten minutes are a fight with another program. */
const MAX_CORRECTIONS = 3;
const WINDOW_MS = 10 * 60_000;

export interface DriftFinding {
  readonly subject: string;
  readonly kind: DriftKind;
  /** Waiting: it is corrected again later. */
  readonly action: 'Corrected' | 'Waiting' | 'Reported' | 'GaveUp';
  readonly because: string;
}

export interface ReconcilePlan extends ComponentPlan {
  readonly findings: readonly DriftFinding[];
}

/** Plans what keeps the target in force right. A correction that failed is not repeated at once. */
export function planDrift(input: ComponentInput, target: Target): ReconcilePlan {
  const { failure, now } = input;
  return !failure || failure.retryAt <= now ? correctAll(input, target) : waitForRetry(input, target);
}

function waitForRetry(input: ComponentInput, target: Target): ReconcilePlan {
  const differences = findDifferences(target, input.observed, input.downloading);
  const findings = differences.map((each): DriftFinding => {
    const finding = findingOf(input, each);
    return finding.action === 'Corrected' ? { ...finding, action: 'Waiting' } : finding;
  });
  return { actions: [], findings, wait: { reason: 'RetryPending', message: input.failure?.message ?? '' } };
}

function correctAll(input: ComponentInput, target: Target): ReconcilePlan {
  const differences = findDifferences(target, input.observed, input.downloading);
  const findings = differences.map((each) => findingOf(input, each));
  const corrected = differences.filter((_, index) => findings[index]?.action === 'Corrected');
  const processes = processRecords(input, target, differences);
  const restart =
    differences.length === 0 ? planRestart(input, target, processes) : { actions: [], findings: [] };
  return {
    actions: [
      ...processes.map((record): ComponentAction => ({ type: 'Record', record, because: 'another process' })),
      ...corrected.flatMap((each, index) => correctionActions(input, each, index)),
      ...restart.actions,
    ],
    findings: [...findings, ...restart.findings],
    ...(restart.wait && { wait: restart.wait }),
  };
}

function findingOf(input: ComponentInput, { subject, kind, because, policy }: HostDifference): DriftFinding {
  const isHeld = input.brakes.hold === 'All';
  if (policy === 'Report' || isHeld) {
    return {
      subject,
      kind,
      action: 'Reported',
      because: isHeld ? `${because}; the machine is held` : because,
    };
  }
  if (kind === 'Run') return { subject, kind, ...runFinding(input, subject, because) };
  const action = recentCorrections(input, subject, kind) >= MAX_CORRECTIONS ? 'GaveUp' : 'Corrected';
  return { subject, kind, action, because };
}

function runFinding(
  { drift, now }: ComponentInput,
  unit: string,
  because: string,
): Pick<DriftFinding, 'action' | 'because'> {
  const tries = runTries(drift.corrections, unit, now);
  if (tries.nextAt <= now) return { action: 'Corrected', because };
  return { action: 'Waiting', because: `${because}: ${describeTries(tries)}` };
}

/**
 * A start does not count: it changes no content. Nor does what a clock that was set back since has dated in the future: it would
 * count until that time has come.
 */
function recentCorrections({ drift, now }: ComponentInput, subject: string, kind: DriftKind): number {
  const [since, until] = [new Date(now.getTime() - WINDOW_MS).toISOString(), now.toISOString()];
  const isSame = (each: CorrectionRecord): boolean =>
    each.subject === subject && (each.kind === 'Process') === (kind === 'Process') && each.kind !== 'Run';
  return drift.corrections.filter((each) => isSame(each) && each.at > since && each.at <= until).length;
}

/** The record comes first: an agent that is killed again and again must not correct for ever. */
function correctionActions(
  { component, now, drift }: ComponentInput,
  { subject, kind, because, operations }: Pick<HostDifference, 'subject' | 'kind' | 'because' | 'operations'>,
  index: number,
): readonly ComponentAction[] {
  const total = (drift.corrections.at(-1)?.total ?? 0) + index + 1;
  const record: CorrectionRecord = {
    type: 'Correction',
    component,
    at: now.toISOString(),
    subject,
    kind,
    total,
  };
  return [{ type: 'Record', record, because }, ...operations.map((operation) => operate(operation, because))];
}

/** A process is judged once, when it is first observed: files that are wrong then were wrong when it started. */
function processRecords(
  { component, drift, now, observed }: ComponentInput,
  target: Target,
  differences: readonly HostDifference[],
): readonly ProcessRecord[] {
  return target.units.flatMap((unit): ProcessRecord | [] => {
    const { name } = unit;
    const startId = observed.units.get(name)?.process?.startId;
    if (startId === undefined || drift.processes.get(name)?.startId === startId) return [];
    const isWrong = differences.some(({ affects }) => affects.includes(name)) || runsOther(unit, observed);
    const content = isWrong ? 'Wrong' : 'Right';
    return {
      type: 'Process',
      component,
      at: now.toISOString(),
      unit: name,
      startId,
      content,
    };
  });
}

function runsOther({ name, exec }: UnitDefinition, { programs, units }: ComponentInput['observed']): boolean {
  const runs = units.get(name)?.process?.programDigest;
  const path = exec?.argv[0] ?? '';
  const expected = [...programs].find(([known]) => path.endsWith(known))?.[1].expected;
  return runs !== undefined && expected !== undefined && runs !== expected;
}

interface WrongProcess extends Pick<HostDifference, 'subject' | 'because' | 'operations'> {
  readonly kind: 'Process';
  /** Whether a restart that changes nothing is not repeated for ever. Otherwise it has to register its Node. */
  readonly isBounded: boolean;
}

function planRestart(
  input: ComponentInput,
  target: Target,
  records: readonly ProcessRecord[],
): Pick<ReconcilePlan, 'actions' | 'findings' | 'wait'> {
  const known = new Map([...input.drift.processes, ...records.map((each) => [each.unit, each] as const)]);
  const differences = target.units.flatMap(({ name }): WrongProcess | [] => {
    const running = input.observed.units.get(name)?.process;
    const record = known.get(name);
    if (!running || record?.startId !== running.startId) return [];
    const started = startReason(input, target, { running, record });
    const because = started ?? unregistered(input, target, record);
    if (because === undefined) return [];
    const operations = (['StopUnit', 'StartUnit'] as const).map((op) => ({ op, target, unit: name }));
    const isBounded = started !== undefined;
    return { subject: name, kind: 'Process', because: `unit ${name} ${because}`, operations, isBounded };
  });
  const [first] = differences;
  const wait = first ? restartWait(input, target, first.because) : undefined;
  // A program that starts another one is never the expected one: it must not restart for ever.
  const allowed = differences.filter(
    ({ subject, kind, isBounded }) =>
      !wait && !(isBounded && recentCorrections(input, subject, kind) >= MAX_CORRECTIONS),
  );
  return {
    actions: allowed.flatMap((each, index) => correctionActions(input, each, index)),
    findings: differences.map((each) => {
      const { subject, kind, because } = each;
      const action = allowed.includes(each) ? 'Corrected' : wait ? 'Reported' : 'GaveUp';
      return { subject, kind, action, because };
    }),
    ...(wait && { wait }),
  };
}

/** Returns what is wrong with what the process started with. */
function startReason(
  { brakes, observed, now }: ComponentInput,
  target: Target,
  { running, record }: { readonly running: UnitProcess; readonly record: ProcessRecord },
): string | undefined {
  if (record.content === 'Wrong') return 'started on wrong content';
  return outdatedTrust(brakes.authorities, target, running, { bootId: observed.bootId, now });
}

function restartWait(
  { brakes, desired }: ComponentInput,
  target: Target,
  because: string,
): ComponentWait | undefined {
  if (brakes.hold !== 'None') {
    return { reason: 'Held', message: 'a restart is needed, and the machine is held' };
  }
  if (brakes.jobRunning) {
    return {
      reason: 'JobRunning',
      message: 'a restart is needed, and a repair job is running on this machine',
    };
  }
  if (!brakes.online) {
    return { reason: 'Offline', message: 'a restart is needed, and the API server does not answer' };
  }
  const grant = desired.state === 'Present' ? desired.grant : undefined;
  if (grant && !grant.expired && grant.entryDigest === target.id) return undefined;
  return { reason: 'GrantNeeded', message: `${because}: its restart waits for a grant` };
}
