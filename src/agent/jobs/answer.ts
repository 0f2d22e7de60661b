/** Builds what the agent reports in `status.agent` of a job, and on its host. Pure. */
import type { AgentStep, RemedyOperationJob } from '../../api/generated/types.ts';
import { canonicalJson } from '../../kube/objects/digest.ts';
import { optional } from '../../kube/objects/optional.ts';
import { truncate } from '../../kube/objects/truncate.ts';
import type { JobStepProgress, JobsState } from '../journal/jobs.ts';
import { plannedStep } from './fences.ts';
import type { JobWait } from './input.ts';
import { isWaitAnswer } from './plan.ts';

/** The maximum length of a message, as the API allows. */
const MAX_MESSAGE = 256;
/** The maximum number of steps that are shown: as many as the list of the API has, and a person reads. */
const MAX_SHOWN = 16;

/** Returns the answer to a job; undefined when the job has nothing of this agent, or already has all of it. */
export function answerFor(
  job: RemedyOperationJob,
  journal: JobsState,
  waits: readonly JobWait[],
): readonly AgentStep[] | undefined {
  const { uid } = job.metadata;
  const before = job.status?.agent?.steps ?? [];
  const own = waits.filter((wait) => wait.job.metadata.uid === uid);
  const steps = new Map(before.map((step) => [step.id, endUnknown(step, own)]));
  const answers = [...triesOf(journal, uid).map(stepAnswer), ...own.map(waitAnswer)];
  for (const answer of answers) if (isNotOlder(answer, steps.get(answer.id))) steps.set(answer.id, answer);
  return isSame([...steps.values()], before) ? undefined : [...steps.values()];
}

function isNotOlder(answer: AgentStep, known: AgentStep | undefined): boolean {
  return known === undefined || known.try <= answer.try;
}

function triesOf(journal: JobsState, uid: string | undefined): readonly JobStepProgress[] {
  return [...journal.values()].filter(({ job }) => job === uid).toSorted((a, b) => a.try - b.try);
}

/**
 * Ends a step that is not in the journal. What runs is in the journal or waits. Otherwise it was announced and is not released any more, or
 * the journal was lost.
 */
function endUnknown(step: AgentStep, waits: readonly JobWait[]): AgentStep {
  if (step.state !== 'Running' || waits.some(({ release }) => release.step === step.id)) return step;
  return isWaitAnswer(step) ? withdrawn(step) : lost(step);
}

export function stepAnswer(progress: JobStepProgress): AgentStep {
  const { step: id, try: attempt, fence, state, at, message } = progress;
  return {
    id,
    try: attempt,
    fence,
    state: state === 'Begun' ? 'Running' : state,
    ...(state !== 'Refused' && { startedAt: at, bootIDBefore: progress.bootId }),
    ...optional('finishedAt', state === 'Refused' ? at : progress.finishedAt),
    ...optional('bootIDAfter', progress.bootIdAfter),
    ...optional('code', progress.code),
    ...optional('message', message === undefined ? undefined : truncate(message, MAX_MESSAGE)),
    ...optional('output', progress.output),
    ...optional('outputDigest', progress.outputDigest),
  };
}

/** Returns the answer for a step whose release was taken away before it began. */
function withdrawn({ id, try: attempt, fence }: AgentStep): AgentStep {
  const message = 'the release was withdrawn before the step began';
  return { id, try: attempt, fence, state: 'Refused', code: 'Withdrawn', message };
}

function lost(step: AgentStep): AgentStep {
  const message = 'the agent has no record of this step any more: what became of it is not known';
  return { ...step, state: 'Ambiguous', code: 'JournalLost', message };
}

/** Returns the answer for a step that waits. It is Running without a start: the release was received and the step has not begun. */
function waitAnswer({ release, code, because }: JobWait): AgentStep {
  const { step: id, try: attempt, fence } = release;
  return { id, try: attempt, fence, state: 'Running', code, message: truncate(because, MAX_MESSAGE) };
}

/** Tells whether two answers are the same. The API server returns fields in another order. */
function isSame(steps: readonly AgentStep[], others: readonly AgentStep[]): boolean {
  return canonicalJson(steps) === canonicalJson(others);
}

export interface ReportedJobStep {
  readonly job: string;
  readonly step: string;
  readonly try: number;
  readonly action: string;
  readonly state: string;
  readonly at: string;
  readonly finishedAt?: string;
  readonly code?: string;
  readonly message?: string;
}

/** Returns the steps for `kubenode agent status`: what waits, then what was begun, newest first. */
export function reportJobs(journal: JobsState, waits: readonly JobWait[]): readonly ReportedJobStep[] {
  const waiting = waits.map(({ job, release, code, because }): ReportedJobStep => {
    const action = plannedStep(job, release.step)?.step ?? release.step;
    const { step, try: attempt } = release;
    const at = job.metadata.creationTimestamp ?? '';
    return {
      job: job.metadata.name,
      step,
      try: attempt,
      action,
      state: 'Waiting',
      at,
      code,
      message: because,
    };
  });
  const begun = [...journal.values()].toReversed().map((each): ReportedJobStep => {
    const { jobName: job, step, try: attempt, action, state, at } = each;
    const shown = { job, step, try: attempt, action, state: state === 'Begun' ? 'Running' : state, at };
    return {
      ...shown,
      ...optional('finishedAt', each.finishedAt),
      ...optional('code', each.code),
      ...optional('message', each.message),
    };
  });
  return [...waiting, ...begun].slice(0, MAX_SHOWN);
}
