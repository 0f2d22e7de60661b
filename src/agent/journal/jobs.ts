/**
 * Keeps the steps of repair jobs in the journal, by job, step and try. A record is the whole knowledge of one try, so that the agent can
 * settle it after a reboot without the API server. Pure.
 */
export interface JobStepProgress {
  /** The UID of the job. */
  readonly job: string;
  readonly jobName: string;
  /** The id of the step in the plan of the job. */
  readonly step: string;
  readonly try: number;
  readonly fence: number;
  /** The name of the step in the catalog, such as Reboot; as the job has it when the agent does not know it. */
  readonly action: string;
  readonly state: JobStepState;
  /** The time when it began; of a refused one, when it was refused. */
  readonly at: string;
  readonly bootId: string;
  /** The value of `with` of the step, with defaults. */
  readonly input?: unknown;
  readonly timeoutSeconds?: number;
  /** The state of the host before, such as the process of the service; compared after a restart of the agent. */
  readonly before?: string;
  readonly finishedAt?: string;
  readonly bootIdAfter?: string;
  readonly code?: string;
  readonly message?: string;
  readonly output?: string;
  readonly outputDigest?: string;
}

/** The state of a try. Begun is the intent: the record is durable before the act. Every other state is final. */
export type JobStepState = 'Begun' | 'Succeeded' | 'Failed' | 'Ambiguous' | 'Refused';

export interface JobRecord extends JobStepProgress {
  readonly type: 'Job';
}

/** Holds the tries by key, oldest first. */
export type JobsState = ReadonlyMap<string, JobStepProgress>;

/** The maximum number of tries that are kept: more than all tries of all steps of one job, so that a job that runs is never forgotten. */
const MAX_STEPS = 200;

export function jobStepKey({
  job,
  step,
  try: attempt,
}: Pick<JobStepProgress, 'job' | 'step' | 'try'>): string {
  return `${job}/${step}/${attempt}`;
}

export function applyJob(before: JobsState, { type: _type, ...progress }: JobRecord): JobsState {
  const jobs = new Map(before);
  const key = jobStepKey(progress);
  // Always at the end, so that the order is that of the records and survives compaction.
  jobs.delete(key);
  jobs.set(key, progress);
  return jobs.size <= MAX_STEPS ? jobs : forget(jobs);
}

/**
 * Forgets the oldest try that is not needed. A try whose fence is not the highest one is refused by its fence, so its record is not needed
 * to refuse it again. A refused one is needed only as long as its release lasts.
 */
function forget(jobs: JobsState): JobsState {
  const highest = highestFence(jobs);
  const entries = [...jobs];
  const oldest = entries.find(
    ([, { fence, state }]) => state === 'Refused' || (state !== 'Begun' && fence < highest),
  );
  return oldest ? new Map(entries.filter((each) => each !== oldest)) : jobs;
}

export function recordsOfJobs(jobs: JobsState): readonly JobRecord[] {
  return [...jobs.values()].map((progress) => ({ type: 'Job', ...progress }));
}

/** Returns the highest fence of every step that was begun here: a grant with a lower one was replaced. What was refused proves nothing. */
export function highestFence(jobs: JobsState): number {
  const begun = [...jobs.values()].filter(({ state }) => state !== 'Refused');
  return begun.reduce((highest, { fence }) => Math.max(highest, fence), 0);
}

/** Returns the step that was begun and has no result yet. There is at most one, because a step begins only when there is none. */
export function begunStep(jobs: JobsState): JobStepProgress | undefined {
  return [...jobs.values()].find(({ state }) => state === 'Begun');
}
