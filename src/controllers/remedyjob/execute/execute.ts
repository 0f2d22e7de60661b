/**
 * Carries out what the planner of repair jobs decides. What disturbs the node renews the grant first; each write is repeatable,
 * and the next reconcile decides from what is written.
 */
import { REMEDY_OPERATION_JOBS } from '../../../api/generated/resources.ts';
import type { JobStep, JobStepStatus, RemedyOperationJob } from '../../../api/generated/types.ts';
import type { GrantPort } from '../../../api/grants.ts';
import { EVENT_PREFIX, FINALIZER_SETTLE, MANAGER_REMEDYJOB } from '../../../api/names.ts';
import { isDisruptive, isOpenRecord, stepRecord } from '../../../api/status/step-records.ts';
import type { ReconcileResult } from '../../../kube/controller/controller.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { RemedyMetrics } from '../metrics.ts';
import type { JobInput } from '../observe/observe.ts';
import type { JobChange, JobDecision, ReleaseStep, RepairWait, RunStep } from '../plan/decision.ts';
import { machineReport } from '../plan/machine-report.ts';
import { isReplaced } from '../plan/replacement.ts';
import { type PowerRecord, powerStep } from '../power/power-records.ts';
import { jobStatus } from '../status.ts';
import { applyMachineStatus } from './machine-status.ts';
import { restorePower } from './power/restore-power.ts';
import { type ReleaseRefusal, releaseRefusal } from './release-refusal.ts';
import { type Renewal, renewJobGrant } from './renewal.ts';
import type { CentralResult, StepPorts } from './steps/central-step.ts';
import { runCentralStep } from './steps/steps.ts';

export interface JobParts {
  readonly observation: JobInput;
  readonly grants: Pick<GrantPort, 'renew' | 'settle'>;
  readonly metrics?: RemedyMetrics | undefined;
  readonly ports: StepPorts;
  readonly context: ReconcileContext;
}

/** A release must not live longer than 60 s; its agent may be behind by the time that a watch takes. */
const RELEASE_MS = 55_000;
const ASK_MS = 15_000;
const REFUSED_MS = 5000;

export async function carryOutJob(decision: JobDecision, parts: JobParts): Promise<ReconcileResult> {
  if (isStepDecision(decision)) return await actOnStep(decision, parts);
  if (isSettlement(decision)) return await settle(decision, parts);
  if (decision.type === 'Nothing') return {};
  if (decision.type === 'Write') return await writeNow(decision.change, parts);
  return await writeAndWait(decision.change, decision.requeueAt, parts);
}

type StepDecision = Extract<JobDecision, { type: 'RunStep' | 'ReleaseStep' | 'AskApproval' }>;
type Settlement = Extract<
  JobDecision,
  { type: 'PatchNode' | 'RestorePower' | 'ReportMachine' | 'SettleGrant' | 'RemoveFinalizer' }
>;

const STEP_DECISIONS: readonly string[] = ['RunStep', 'ReleaseStep', 'AskApproval'];
const SETTLEMENTS: readonly string[] = [
  'PatchNode',
  'RestorePower',
  'ReportMachine',
  'SettleGrant',
  'RemoveFinalizer',
];

function isStepDecision(decision: JobDecision): decision is StepDecision {
  return STEP_DECISIONS.includes(decision.type);
}

function isSettlement(decision: JobDecision): decision is Settlement {
  return SETTLEMENTS.includes(decision.type);
}

async function actOnStep(decision: StepDecision, parts: JobParts): Promise<ReconcileResult> {
  if (decision.type === 'RunStep') return await runStep(decision, parts);
  return decision.type === 'ReleaseStep'
    ? await releaseStep(decision, parts)
    : await askApproval(decision, parts);
}

async function settle(decision: Settlement, parts: JobParts): Promise<ReconcileResult> {
  const { observation, context } = parts;
  const { job, node, machine, now } = observation;
  context.log.info('job settles', { job: job.metadata.name, act: decision.type, because: decision.because });
  switch (decision.type) {
    case 'PatchNode':
      if (node) await context.patch(NODES, node, decision.operations);
      return { requeueAt: now };
    case 'RestorePower':
      return await restore(decision.last, parts);
    case 'ReportMachine':
      if (machine) {
        await applyMachineStatus(machine, machineReport(observation, decision.needsPerson), context);
      }
      return { requeueAt: now };
    case 'SettleGrant':
      return await settleGrant(decision, parts);
    case 'RemoveFinalizer':
      await context.removeFinalizer(REMEDY_OPERATION_JOBS, job, FINALIZER_SETTLE);
      return {};
    default:
      return decision;
  }
}

const RESTORE_MS = 5000;

async function restore(last: PowerRecord, parts: JobParts): Promise<ReconcileResult> {
  const { observation, ports, context } = parts;
  const { message, power } = await restorePower({ observation, last, ports, context });
  const wait: RepairWait = { reason: 'Power', message: `the machine is switched on again: ${message}` };
  const change: JobChange = power ? { step: { ...last.record, power }, wait } : { wait };
  return await writeAndWait(change, new Date(observation.now.getTime() + (power ? 0 : RESTORE_MS)), parts);
}

async function settleGrant(
  { outcome, handedOff, change }: Extract<JobDecision, { type: 'SettleGrant' }>,
  parts: JobParts,
): Promise<ReconcileResult> {
  const { observation, grants, metrics, context } = parts;
  const { job } = observation;
  const { id, fence } = job.spec.grant;
  await grants.settle([{ id, fence, outcome, ...(handedOff ? { handedOff } : {}) }]);
  const { status } = await write(change, parts);
  if (status) metrics?.settled(job, status, context.view<RemedyOperationJob>(REMEDY_OPERATION_JOBS).list());
  return { requeueAt: context.clock.now() };
}

async function runStep(decision: RunStep, parts: JobParts): Promise<ReconcileResult> {
  const { step, record } = decision;
  const { observation, ports, context } = parts;
  const { now } = observation;
  const renewal = isAskedElsewhere(step, observation) ? undefined : await renewalFor(step, parts);
  if (renewal && !renewal.isGranted) return await waitForGrant(renewal, parts);
  const renew = (): Promise<Renewal> => renewJobGrant(parts.grants, observation);
  const result = await runCentralStep({ observation, step, record, renew, ports, context });
  if (!result) return { requeueAt: now };
  return await recordResult(decision, { result, renewed: result.renewed ?? renewal?.change ?? {} }, parts);
}

/**
 * The machine controller renews the grant of a deletion that has begun. A step that switches the power asks immediately before its
 * request: what only reads, or switches on, needs no grant.
 */
function isAskedElsewhere(step: JobStep, observation: JobInput): boolean {
  return isReplaced(observation) || powerStep(step) !== undefined;
}

async function recordResult(
  decision: RunStep,
  { result, renewed }: { readonly result: CentralResult; readonly renewed: JobChange },
  parts: JobParts,
): Promise<ReconcileResult> {
  const { record, isOverdue } = decision;
  const { now } = parts.observation;
  if (result.state === 'Denied') return await waitForGrant(result.renewal, parts);
  if (result.state !== 'Waiting') return await writeNow({ ...renewed, ...endOf(result, record, now) }, parts);
  if (isOverdue) return await waitForApproval(decision, { result, renewed }, parts);
  return await writeAndWait({ ...renewed, ...runningOf(result, record) }, result.requeueAt, parts);
}

type EndedResult = Exclude<CentralResult, { state: 'Waiting' | 'Denied' }>;

function runningOf(result: Extract<CentralResult, { state: 'Waiting' }>, record: JobStepStatus): JobChange {
  const { power, answer, note: message } = result;
  const step: JobStepStatus = {
    ...record,
    state: 'Running',
    ...optional('power', power),
    ...optional('answer', answer),
    ...optional('message', message),
  };
  return { step, wait: result.wait, ...progressOf(result) };
}

function endOf(result: EndedResult, record: JobStepStatus, now: Date): JobChange {
  const { state, message } = result;
  const step: JobStepStatus = {
    ...record,
    state,
    message,
    finishedAt: now.toISOString(),
    ...('code' in result ? { code: result.code } : {}),
    ...('bootIDAfter' in result ? optional('bootIDAfter', result.bootIDAfter) : {}),
    ...optional('power', result.power),
  };
  return { step, ...progressOf(result) };
}

function progressOf({ drain, replacement }: CentralResult): Pick<JobChange, 'drain' | 'replacement'> {
  return { ...optional('drain', drain), ...optional('replacement', replacement) };
}

interface OverdueResult {
  readonly result: Extract<CentralResult, { state: 'Waiting' }>;
  readonly renewed: JobChange;
}

/** Continues a step that has no time left, and asks a person: the answer gives it as much time again, or ends it. */
async function waitForApproval(
  { step, record }: RunStep,
  { result, renewed }: OverdueResult,
  parts: JobParts,
): Promise<ReconcileResult> {
  const { job, now } = parts.observation;
  const answer = await parts.ports.approvals.ask(job, new Date(record.startedAt ?? now), now);
  if (answer.state === 'Refused') {
    const refused = { state: 'Failed', code: 'ApprovalRefused', message: answer.message } as const;
    return await writeNow({ ...renewed, ...endOf(refused, record, now) }, parts);
  }
  if (answer.state === 'Approved') {
    const again: JobStepStatus = { ...record, tries: (record.tries ?? 1) + 1, startedAt: now.toISOString() };
    return await writeNow({ ...renewed, step: again }, parts);
  }
  const message = `${step.step} is not done in ${step.timeoutSeconds} s: ${result.wait.message}; ${answer.message}`;
  const wait: RepairWait = { ...result.wait, reason: 'ApprovalRequired', message, isBlocked: true };
  const change = { ...renewed, ...runningOf(result, record), wait };
  return await writeAndWait(change, result.requeueAt, parts);
}

/** Asks a person about a step that the agent did not begin in time. */
async function askApproval(
  { step, record }: Extract<JobDecision, { type: 'AskApproval' }>,
  parts: JobParts,
): Promise<ReconcileResult> {
  const { job, now } = parts.observation;
  const answer = await parts.ports.approvals.ask(job, new Date(record.startedAt ?? now), now);
  if (answer.state === 'Refused') {
    return await writeNow({ step: { ...record, code: 'ApprovalRefused', message: answer.message } }, parts);
  }
  if (answer.state === 'Approved') {
    // Begins another try, also when no retries are left: the person has added one.
    const again: JobStepStatus = { id: step.id, state: 'Pending', tries: record.tries ?? 1 };
    return await writeNow({ step: again }, parts);
  }
  const wait: RepairWait = {
    reason: 'ApprovalRequired',
    message: `${record.message ?? ''}; ${answer.message}`,
    isBlocked: true,
  };
  return await writeAndWait({ wait }, new Date(now.getTime() + ASK_MS), parts);
}

/** Record and release are one write: a step is never released without its record. */
async function releaseStep(decision: ReleaseStep, parts: JobParts): Promise<ReconcileResult> {
  const { step, record, bootID } = decision;
  const { job, now } = parts.observation;
  const refusal = await releaseRefusal(step, parts);
  if (refusal) return await refuseRelease(decision, refusal, parts);
  const renewal = await renewalFor(step, parts);
  if (renewal && !renewal.isGranted) return await waitForGrant(renewal, parts);
  const release = {
    step: step.id,
    try: record.tries ?? 1,
    fence: job.spec.grant.fence,
    nodeUID: job.spec.node.uid,
    bootID,
    notAfter: new Date(now.getTime() + RELEASE_MS).toISOString(),
  };
  parts.context.log.info('step released', { job: job.metadata.name, step: step.step, try: release.try });
  return await writeNow({ ...(renewal ? renewal.change : {}), step: record, release }, parts);
}

/** Fails a step that was not released yet. One whose release is out may have begun: only the release is not renewed. */
async function refuseRelease(
  { step, record }: ReleaseStep,
  { code, message }: ReleaseRefusal,
  parts: JobParts,
): Promise<ReconcileResult> {
  const { job, now } = parts.observation;
  if (isOpenRecord(stepRecord(job, step.id))) {
    const wait: RepairWait = { reason: 'PodBlocked', message, isBlocked: true };
    return await writeAndWait({ wait }, new Date(now.getTime() + REFUSED_MS), parts);
  }
  const failed: JobStepStatus = { ...record, state: 'Failed', code, message, finishedAt: now.toISOString() };
  return await writeNow({ step: failed, release: null }, parts);
}

async function renewalFor(step: JobStep, { observation, grants }: JobParts): Promise<Renewal | undefined> {
  return isDisruptive(step) ? await renewJobGrant(grants, observation) : undefined;
}

/** Waits for a grant. A release that is still out is withdrawn: without a grant nothing may begin. */
async function waitForGrant(
  { change, requeueAt }: Extract<Renewal, { isGranted: false }>,
  parts: JobParts,
): Promise<ReconcileResult> {
  return await writeAndWait({ ...change, release: null }, requeueAt, parts);
}

async function writeNow(change: JobChange, parts: JobParts): Promise<ReconcileResult> {
  await write(change, parts);
  const { outcome } = change;
  if (outcome) announceOutcome(outcome, parts);
  return { requeueAt: parts.context.clock.now() };
}

async function writeAndWait(change: JobChange, requeueAt: Date, parts: JobParts): Promise<ReconcileResult> {
  await write(change, parts);
  return { requeueAt };
}

async function write(change: JobChange, { observation, context }: JobParts): Promise<RemedyOperationJob> {
  const { job, now } = observation;
  const { name, uid } = job.metadata;
  const status = jobStatus(job, change, now);
  const metadata = { name, ...optional('uid', uid) };
  return await context.applyStatus(REMEDY_OPERATION_JOBS, { metadata, status });
}

function announceOutcome(
  outcome: NonNullable<JobChange['outcome']>,
  { observation, context }: JobParts,
): void {
  const { job, machine } = observation;
  const isGood = outcome.class === 'Succeeded' || outcome.class === 'Superseded';
  const reason = `${EVENT_PREFIX[MANAGER_REMEDYJOB]}${outcome.class}`;
  const note = `job ${job.metadata.name}: ${outcome.message ?? outcome.class}`;
  context.event(machine ?? job, { type: isGood ? 'Normal' : 'Warning', reason, action: 'Repair', note });
  context.log.info('job ended', { job: job.metadata.name, outcome: outcome.class, because: outcome.message });
}
