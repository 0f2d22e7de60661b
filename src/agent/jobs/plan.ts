/**
 * Decides what the agent does about the repair jobs of its machine: begin a released step, resume or settle one that was
 * begun before a restart, refuse, or wait. A step is begun at most once for each job, step and try. Pure.
 */
import type { JobRelease, RemedyOperationJob } from '../../api/generated/types.ts';
import { optional } from '../../kube/objects/optional.ts';
import { begunStep, type JobStepProgress, type JobsState } from '../journal/jobs.ts';
import { type Released, refusal, releasedStep, releaseKey, waitReason } from './fences.ts';
import type { JobAct, JobsInput, JobsPlan, JobWait, StepObservation } from './input.ts';

export function planJobs(input: JobsInput): JobsPlan {
  const begun = begunStep(input.journal);
  const settled = begun && input.facts.observed && planBegun(begun, input.facts.observed);
  const released = unansweredReleases(input.jobs, input.journal).toSorted(byFence);
  const plans = released.map((each) => planRelease(input, each, begun));
  const acts = plans.filter((each): each is JobAct => 'type' in each);
  const waits = plans.filter((each): each is JobWait => !('type' in each));
  const act = settled ?? acts[0];
  return act ? { act, waits } : { waits };
}

const OFFLINE = {
  code: 'Offline',
  because: 'the API server does not answer: nothing is begun before it does',
} as const;

/** A try that is in the journal was begun or refused here. It is reported, and never begun again. */
export function unansweredReleases(
  jobs: readonly RemedyOperationJob[],
  journal: JobsState,
): readonly Released[] {
  return jobs.flatMap((job): readonly Released[] => {
    const release = job.status?.release;
    if (!release || journal.has(releaseKey({ job, release }))) return [];
    return isAnswered(job, release) ? [] : [{ job, release }];
  });
}

/** Tells whether the status answers this try, or a later one: a try from before the journal was lost is never begun again, either. */
function isAnswered({ status }: RemedyOperationJob, { step, try: attempt }: JobRelease): boolean {
  const answer = status?.agent?.steps.find(({ id }) => id === step);
  return answer !== undefined && answer.try >= attempt && !isWaitAnswer(answer);
}

/** A step that was announced and not begun has no start. */
export function isWaitAnswer({
  state,
  startedAt,
}: {
  readonly state: string;
  readonly startedAt?: string;
}): boolean {
  return state === 'Running' && startedAt === undefined;
}

/** The newest grant first: what has an older one is refused. Then by name, so that the order is always the same. */
function byFence(a: Released, b: Released): number {
  const [nameA, nameB] = [a.job.metadata.name, b.job.metadata.name];
  return b.release.fence - a.release.fence || (nameA < nameB ? -1 : Number(nameA > nameB));
}

function planRelease(
  input: JobsInput,
  released: Released,
  begun: JobStepProgress | undefined,
): JobAct | JobWait {
  if (!input.facts.online) return wait(released, OFFLINE);
  const refused = refusal(input, released);
  if (refused) return { type: 'Refuse', ...released, code: refused.code, because: refused.message };
  const because = waitReason(input, begun);
  if (because) return wait(released, because);
  const step = releasedStep(released);
  if ('code' in step) return { type: 'Refuse', ...released, code: step.code, because: step.message };
  return { type: 'Begin', step, because: `released until ${released.release.notAfter}` };
}

function wait(released: Released, why: Pick<JobWait, 'code' | 'because'>): JobWait {
  return { ...released, ...why };
}

interface StepEnd {
  readonly state: 'Succeeded' | 'Failed' | 'Ambiguous';
  readonly code?: string;
}

type Verdicts = Readonly<Record<StepObservation['happened'], StepEnd | 'Resume' | undefined>>;

/** Only what the host shows decides: a begun step is never simply done again. Undefined: wait for more. */
const IN_TIME: Verdicts = {
  Yes: { state: 'Succeeded' },
  Failed: { state: 'Failed', code: 'Failed' },
  No: { state: 'Failed', code: 'Interrupted' },
  Partly: 'Resume',
  Continues: undefined,
  Waits: undefined,
  Unknown: undefined,
};

const AFTER_ITS_TIME: Verdicts = {
  ...IN_TIME,
  No: { state: 'Failed', code: 'TimedOut' },
  Partly: { state: 'Failed', code: 'TimedOut' },
  Waits: { state: 'Failed', code: 'TimedOut' },
  Unknown: { state: 'Ambiguous', code: 'Unknown' },
};

function planBegun(progress: JobStepProgress, observed: StepObservation): JobAct | undefined {
  const { happened, message: because, timedOut, code } = observed;
  const verdict = (timedOut ? AFTER_ITS_TIME : IN_TIME)[happened];
  if (verdict === undefined) return undefined;
  if (verdict === 'Resume') return { type: 'Resume', progress, because };
  return { type: 'End', progress, ...verdict, ...optional('code', code), because };
}
