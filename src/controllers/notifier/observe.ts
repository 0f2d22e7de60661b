/**
 * Reads what a job tells people: one notice for each of its steps HandOff, and Notify to the owner, that has begun, and one for each HandOff
 * whose machine needs no person any more. Pure.
 */

import type { StepInputs } from '../../api/generated/steps.ts';
import type { JobStep, Machine, NodeRemedier, RemedyOperationJob } from '../../api/generated/types.ts';
import { RESOLVED, stepRecord } from '../../api/status/step-records.ts';
import { stepInput, stepInputProblems, stepOfReference } from '../../api/steps/steps.ts';
import { conditionOf } from '../../kube/objects/conditions.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Notice } from './notice.ts';

/** The team of a rule that is not found. */
const UNKNOWN = 'unknown';

export function noticesOf(job: RemedyOperationJob, remedier: NodeRemedier | undefined): readonly Notice[] {
  return [...job.spec.plan, ...job.spec.onVerified].flatMap((step) => {
    const startedAt = stepRecord(job, step.id)?.startedAt;
    const announced = announcedBy(step, remedier?.spec.owner.team ?? UNKNOWN);
    return startedAt === undefined || announced === undefined
      ? []
      : [noticeOf(job, remedier, { startedAt, announced })];
  });
}

/**
 * Returns a notice for each of these that handed the machine to a person, once that is over: its condition NeedsPerson became False after the
 * step, or the Machine was deleted. A job reports that condition before it is settled.
 */
export function resolutionsOf(
  notices: readonly Notice[],
  job: RemedyOperationJob,
  machine: Machine | undefined,
  deletedAt: Date,
): readonly Notice[] {
  if (job.status?.timeline?.settledAt === undefined) return [];
  return notices.flatMap((notice) => {
    const over = notice.step === 'HandOff' ? overSince(notice, job, machine, deletedAt) : undefined;
    return over ? [resolved(notice, over)] : [];
  });
}

interface Over {
  readonly at: string;
  readonly because: string;
}

function overSince(
  { at }: Notice,
  { spec }: RemedyOperationJob,
  machine: Machine | undefined,
  deletedAt: Date,
): Over | undefined {
  if (machine?.metadata.uid !== spec.machine.uid) {
    return { at: deletedAt.toISOString(), because: 'the Machine was deleted' };
  }
  const needsPerson = conditionOf(machine.status?.conditions, 'NeedsPerson');
  if (needsPerson?.status !== 'False') return undefined;
  const { lastTransitionTime, message } = needsPerson;
  // One that is older is about a former case: the job has not reported its own yet.
  return Date.parse(lastTransitionTime) < Date.parse(at)
    ? undefined
    : { at: lastTransitionTime, because: message };
}

function resolved(notice: Notice, { at, because }: Over): Notice {
  const { machine, faultClass, rule } = notice;
  return {
    ...notice,
    event: 'Resolved',
    id: `${notice.id}${RESOLVED}`,
    at,
    summary: `${machine}: ${faultClass} fault of rule ${rule}, needs no person any more: ${because}`,
  };
}

type Announcement = Pick<Notice, 'step' | 'stepId' | 'severity' | 'queue'> & { readonly text: string };

/** Returns undefined for a step that announces nothing to people, or that the job controller refuses. */
function announcedBy(
  { id: stepId, step, with: input = {} }: JobStep,
  team: string,
): Announcement | undefined {
  const name = stepOfReference(step);
  if ((name !== 'HandOff' && name !== 'Notify') || stepInputProblems(name, input).length > 0) {
    return undefined;
  }
  return name === 'HandOff'
    ? handedOff(stepId, team, stepInput(name, input))
    : signalled(stepId, team, stepInput(name, input));
}

function handedOff(
  stepId: string,
  team: string,
  { queue = team, severity, vendorCase }: StepInputs['HandOff'],
): Announcement {
  const vendor = vendorCase ? ', and a case with the hardware vendor' : '';
  return { step: 'HandOff', stepId, severity, queue, text: `needs a person${vendor}` };
}

/** Workloads get an Event of their Node. */
function signalled(stepId: string, team: string, input: StepInputs['Notify']): Announcement | undefined {
  const { to, signal, message = 'a repair is about to act' } = input;
  if (to === 'Workloads') return undefined;
  return { step: 'Notify', stepId, severity: 'info', queue: team, text: `${signal}: ${message}` };
}

interface Begun {
  readonly startedAt: string;
  readonly announced: Announcement;
}

function noticeOf(
  job: RemedyOperationJob,
  remedier: NodeRemedier | undefined,
  { startedAt, announced }: Begun,
): Notice {
  const { text, ...fields } = announced;
  const { cause, machine } = job.spec;
  return {
    ...fields,
    event: 'Opened',
    id: `${job.metadata.uid ?? job.metadata.name}/${announced.stepId}`,
    incident: `kubenode/${machine.uid}/${cause.remedier}/${cause.case}`,
    summary: `${machine.name}: ${cause.faultClass} fault of rule ${cause.remedier}, ${text}`,
    machine: machine.name,
    rule: cause.remedier,
    faultClass: cause.faultClass,
    job: job.metadata.name,
    commit: cause.commit,
    at: startedAt,
    evidence: cause.evidence,
    ...optional('faultAt', cause.faultAt),
    ...optional('runbook', remedier?.spec.owner.runbook),
  };
}
