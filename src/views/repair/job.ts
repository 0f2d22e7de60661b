/** Builds the view of one repair job for people. Pure: it reads only the object. */
import type { JobCancel, JobDrain, RemedyOperationJob, Wait } from '../../api/generated/types.ts';
import { ENDED_JOB_PHASES, isEndedJobPhase } from '../../api/status/phase-tables.ts';
import { deliveredOf } from '../../api/status/step-records.ts';
import { optional } from '../../kube/objects/optional.ts';
import { evidenceText } from './evidence.ts';
import { type JobStepView, viewSteps } from './steps.ts';
import { type TimelineEntry, viewTimeline } from './timeline.ts';
import { isApprovalWait, isOpenCase, jobUnblock } from './unblock.ts';

/** The state of a job. Ended: superseded or cancelled. Failed: also handed to a person. */
export type JobState = 'Running' | 'NeedsPerson' | 'Succeeded' | 'Ended' | 'Failed';

export interface JobView {
  readonly job: string;
  readonly machine: string;
  readonly rule: string;
  readonly commit: string;
  readonly rung: string;
  readonly attempt: number;
  readonly risk: string;
  readonly phase: string;
  readonly state: JobState;
  readonly created?: string;
  readonly waiting?: Wait;
  /** The hint that ends the wait; empty while the job does not wait. */
  readonly unblock: string;
  readonly cancel?: JobCancel;
  readonly outcome?: string;
  readonly evidence: readonly string[];
  readonly drain?: JobDrain;
  readonly deadline: string;
  readonly timeline: readonly TimelineEntry[];
  readonly steps: readonly JobStepView[];
  /** The receivers outside of the cluster that were notified of a step. */
  readonly notified: readonly NotifiedView[];
}

export interface NotifiedView {
  readonly receiver: string;
  /** With `/resolved` for the end of what the step asked for. */
  readonly step: string;
  readonly at: string;
}

export function viewJob(job: RemedyOperationJob): JobView {
  const { metadata, spec, status } = job;
  const phase = status?.phase ?? 'Pending';
  const state = stateOf(phase, status?.waiting);
  const waiting = waitOf(state, status?.waiting);
  return {
    job: metadata.name,
    machine: spec.machine.name,
    rule: spec.cause.remedier,
    commit: spec.cause.commit,
    rung: spec.rung.name,
    attempt: spec.attempt,
    risk: spec.risk,
    phase,
    state,
    ...optional('created', metadata.creationTimestamp),
    ...optional('waiting', waiting),
    unblock: waiting ? jobUnblock(job, waiting) : '',
    ...optional('cancel', spec.cancel),
    ...optional('outcome', outcomeText(job)),
    evidence: spec.cause.evidence.map(evidenceText),
    ...optional('drain', status?.drain),
    deadline: spec.deadline,
    timeline: viewTimeline(job),
    steps: viewSteps(job),
    notified: Object.entries(deliveredOf(job)).flatMap(([receiver, steps]) =>
      Object.entries(steps).map(([step, at]) => ({ receiver, step, at })),
    ),
  };
}

function stateOf(phase: string, waiting: Wait | undefined): JobState {
  if (isEndedJobPhase(phase)) return ENDED_JOB_PHASES[phase];
  return waiting && isApprovalWait(waiting) ? 'NeedsPerson' : 'Running';
}

export function isOver(state: JobState): boolean {
  return state !== 'Running' && state !== 'NeedsPerson';
}

/** Returns the wait of the job. A job that has ended waits for nothing, unless its machine still needs a person. */
function waitOf(state: JobState, waiting: Wait | undefined): Wait | undefined {
  return waiting && (!isOver(state) || isOpenCase(waiting)) ? waiting : undefined;
}

function outcomeText({ status }: RemedyOperationJob): string | undefined {
  if (!status?.outcome) return undefined;
  const { class: result, reason, message } = status.outcome;
  return [result, reason === result ? undefined : reason, message].filter(Boolean).join(': ');
}
