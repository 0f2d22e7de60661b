/** Makes the trace of a repair job: from the fault to the end of the job, as its object records it. Pure. */
import type {
  AgentStep,
  JobOutcome,
  JobStep,
  JobStepStatus,
  RemedyOperationJob,
} from '../../../api/generated/types.ts';
import { answerOf, type JobMoments, jobMoments, stepRecord } from '../../../api/status/step-records.ts';
import { changeSpan, type StepOutcome, type Trace, type TraceStep, traceIdOf } from '../trace.ts';
import type { EndedTrace } from './ended.ts';

export function repairTrace(job: RemedyOperationJob): Trace {
  const { metadata, spec } = job;
  return {
    traceId: traceIdOf(`repair/${metadata.uid ?? metadata.name}`),
    root: repairStep(job),
    links: [changeSpan(spec.cause.commit)],
  };
}

/** Returns nothing while the job has not ended. */
export function endedRepair(job: RemedyOperationJob): readonly EndedTrace[] {
  const { uid, name } = job.metadata;
  const { settled } = jobMoments(job);
  if (settled === undefined) return [];
  return [{ key: `repair/${uid ?? name}`, what: 'repair', endedAt: settled, trace: () => repairTrace(job) }];
}

function repairStep(job: RemedyOperationJob): TraceStep {
  const { metadata, spec, status } = job;
  const { cause, machine, node, rung } = spec;
  const moments = jobMoments(job);
  const result = status?.outcome?.class;
  return {
    key: 'repair',
    name: 'repair',
    subject: machine.name,
    startedAt: moments.fault ?? moments.detected ?? moments.granted,
    endedAt: moments.settled,
    ...repairResult(status?.outcome),
    attributes: {
      'kubenode.job': metadata.name,
      'kubenode.commit': cause.commit,
      'kubenode.rule': cause.remedier,
      'kubenode.case': cause.case,
      'kubenode.fault_class': cause.faultClass,
      'kubenode.rung': rung.name,
      'kubenode.attempt': spec.attempt,
      'kubenode.risk': spec.risk,
      'kubenode.grant': spec.grant.id,
      'kubenode.outcome': result,
      'kubenode.maintenance_event': cause.maintenanceEvent,
      'k8s.node.name': machine.name,
      'k8s.node.uid': node.uid,
    },
    steps: [
      {
        ...bare('detect'),
        startedAt: moments.fault,
        endedAt: moments.fault && moments.detected,
        because: cause.faultClass,
      },
      {
        ...bare('decide'),
        startedAt: moments.detected,
        endedAt: moments.granted,
        because: `grant ${spec.grant.id}`,
        attributes: { 'kubenode.grant': spec.grant.id },
      },
      ...spec.plan.map((step) => jobStep(job, step)),
      ...(spec.verify ? [verifyStep(job, moments)] : []),
      ...spec.onVerified.map((step) => jobStep(job, step)),
      settleStep(job, moments),
    ],
  };
}

const REPAIR_OUTCOMES: Readonly<Record<string, StepOutcome>> = {
  Succeeded: 'Ok',
  Superseded: 'Unset',
  Cancelled: 'Unset',
};

function repairResult(outcome: JobOutcome | undefined): StepResult {
  if (!outcome) return { outcome: 'Unset' };
  const { class: state, reason, message: because } = outcome;
  return { outcome: REPAIR_OUTCOMES[state] ?? 'Error', state, reason, because };
}

type StepResult = Pick<TraceStep, 'outcome' | 'state' | 'reason' | 'because'>;

function bare(key: string): Pick<TraceStep, 'key' | 'name' | 'outcome'> {
  return { key, name: key, outcome: 'Unset' };
}

const STEP_OUTCOMES: Readonly<Record<string, StepOutcome>> = {
  Succeeded: 'Ok',
  Undone: 'Ok',
  Failed: 'Error',
  Ambiguous: 'Error',
};

function jobStep(job: RemedyOperationJob, step: JobStep): TraceStep {
  const record: JobStepStatus = stepRecord(job, step.id) ?? { id: step.id, state: 'Pending' };
  const { state, tries, startedAt, finishedAt, code, message } = record;
  const answer = step.executor === 'Agent' ? answerOf(job, record) : undefined;
  return {
    key: `step/${step.id}`,
    name: step.step,
    subject: tries !== undefined && tries > 1 ? `${step.id}, ${tries} tries` : step.id,
    startedAt,
    endedAt: finishedAt,
    outcome: STEP_OUTCOMES[state] ?? 'Unset',
    state: isNotReached(job, record) ? undefined : state,
    reason: code,
    because: message,
    attributes: {
      'kubenode.step': step.id,
      'kubenode.step.executor': step.executor,
      'kubenode.step.state': state,
      'kubenode.step.risk': step.risk,
      'kubenode.step.tries': tries,
    },
    steps: answer ? [agentStep(answer)] : [],
  };
}

/** A step that had not begun when its job was settled never begins. */
function isNotReached(job: RemedyOperationJob, { state, startedAt }: JobStepStatus): boolean {
  return state === 'Pending' && startedAt === undefined && jobMoments(job).settled !== undefined;
}

/** Only the last try: the job has one record of a step. */
function agentStep({ state, startedAt, finishedAt, code, message, ...answer }: AgentStep): TraceStep {
  return {
    key: 'agent',
    name: 'agent',
    startedAt,
    endedAt: finishedAt,
    outcome: STEP_OUTCOMES[state] ?? (state === 'Refused' ? 'Error' : 'Unset'),
    state,
    reason: code,
    because: message,
    attributes: {
      'kubenode.step.try': answer.try,
      'kubenode.boot_id.before': answer.bootIDBefore,
      'kubenode.boot_id.after': answer.bootIDAfter,
    },
  };
}

/** A job that was not verified waited for it until its end. */
function verifyStep({ status }: RemedyOperationJob, { acted, verified, settled }: JobMoments): TraceStep {
  const step = { ...bare('verify'), startedAt: acted, endedAt: verified };
  if (verified !== undefined) return { ...step, outcome: 'Ok', because: 'its conditions held' };
  if (acted === undefined || !status?.outcome) return step;
  return { ...step, ...repairResult(status.outcome), endedAt: settled };
}

/** Begins with the last record before it. */
function settleStep(job: RemedyOperationJob, { granted, acted, verified, settled }: JobMoments): TraceStep {
  const ends = [granted, acted, verified, ...(job.status?.steps ?? []).map(({ finishedAt }) => finishedAt)];
  const last = ends.flatMap((end) => end ?? []).toSorted((a, b) => Date.parse(a) - Date.parse(b));
  return {
    ...bare('settle'),
    startedAt:
      settled === undefined ? undefined : last.findLast((end) => Date.parse(end) <= Date.parse(settled)),
    endedAt: settled,
    because: settled === undefined ? undefined : job.status?.outcome?.class,
  };
}
