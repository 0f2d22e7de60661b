/** Reads what a job tells people: one notice for each of its steps HandOff, and Notify to the owner, that has begun. Pure. */

import type { StepInputs } from '../../api/generated/steps.ts';
import type { JobStep, NodeRemedier, RemedyOperationJob } from '../../api/generated/types.ts';
import { stepRecord } from '../../api/status/step-records.ts';
import { stepInput, stepInputProblems, stepOfReference } from '../../api/steps/steps.ts';
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
