/** Reads what the planner of repair jobs decides from: the watch, the host and its configuration. */
import type { JobRelease, RemedyOperationJob } from '../../api/generated/types.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Clock } from '../../os/clock.ts';
import type { AcceptedState } from '../desired/accepted.ts';
import type { Host } from '../host/port.ts';
import { begunStep, type JobStepProgress, jobStepKey } from '../journal/jobs.ts';
import type { Journal } from '../journal/journal.ts';
import type { AgentApi } from '../run/api.ts';
import { changingComponent, entryFence, holdOf } from './circumstances.ts';
import { readJobsConfig } from './config.ts';
import { type Released, releasedStep, releaseKey } from './fences.ts';
import type { JobsInput, ReleasedStep, StepObservation, StepProblem } from './input.ts';
import { unansweredReleases } from './plan.ts';
import { agentStepInput } from './step-table.ts';
import type { StepWork } from './step-work.ts';
import type { StepContext } from './steps/executor.ts';
import { executorOf } from './steps/executors.ts';

export interface JobsReaderOptions {
  readonly host: Host;
  readonly api: Pick<AgentApi, 'clockSkewMs' | 'isOnline' | 'jobs' | 'machine' | 'nodeUid'>;
  readonly clock: Clock;
  readonly journal: Pick<Journal, 'state'>;
  readonly work: Pick<StepWork, 'current' | 'isBusy' | 'isOverdue'>;
  readonly isExpired: (job: RemedyOperationJob, release: JobRelease) => boolean;
}

export interface JobsReader {
  /**
   * Reads the UID of the Node, only when a step is released. It may take as long as a release lives, so it comes before everything else.
   */
  nodeUid(): Promise<string | undefined>;
  read(state: AcceptedState, nodeUid: string | undefined): Promise<JobsInput>;
}

export function createJobsReader(options: JobsReaderOptions): JobsReader {
  const { host, api, clock, journal, work } = options;
  /** The time when this process first observed a begun step that it does not carry out. */
  let observed: { readonly key: string; readonly sinceMs: number } | undefined;

  function released(): readonly Released[] {
    return unansweredReleases(api.jobs() ?? [], journal.state().jobs);
  }

  async function observeBegun(): Promise<StepObservation | undefined> {
    const begun = begunStep(journal.state().jobs);
    if (!begun || work.current()) return undefined;
    const key = jobStepKey(begun);
    if (observed?.key !== key) observed = { key, sinceMs: clock.monotonicMs() };
    const isOver = clock.monotonicMs() >= observed.sinceMs + timeoutMsOf(begun);
    return await observeStep(options, begun, work.isOverdue(key) || isOver);
  }

  return {
    nodeUid: async () =>
      released().length > 0 && api.isOnline() ? await api.nodeUid().catch(() => undefined) : undefined,
    async read(state, nodeUid) {
      const problems = await hostProblems(options, released());
      const begun = await observeBegun();
      const bootId = await host.node.bootId();
      const jobs = api.jobs();
      const facts = {
        online: jobs !== undefined && api.isOnline(),
        bootId,
        nodeUid,
        skewMs: api.clockSkewMs(),
        hold: holdOf(state, api.machine(), clock.now()),
        entryFence: entryFence(state),
        isExpired: options.isExpired,
        changing: changingComponent(journal.state()),
        busy: work.isBusy(),
        problems,
        ...optional('observed', begun),
      };
      const machine = { name: state.name, uid: state.uid };
      return { machine, jobs: jobs ?? [], journal: journal.state().jobs, facts, now: clock.now() };
    },
  };
}

/** Returns what the host and its configuration refuse, by key of the step. */
async function hostProblems(
  options: JobsReaderOptions,
  released: readonly Released[],
): Promise<ReadonlyMap<string, StepProblem>> {
  const problems = new Map<string, StepProblem>();
  for (const each of released) {
    const step = releasedStep(each);
    const problem = 'code' in step ? undefined : await hostProblem(options, step);
    if (problem) problems.set(releaseKey(each), problem);
  }
  return problems;
}

async function hostProblem(
  options: JobsReaderOptions,
  { action, plan }: ReleasedStep,
): Promise<StepProblem | undefined> {
  const executor = executorOf(action);
  if (!executor) {
    return { code: 'UnknownStep', message: `this version of the agent cannot carry out ${action}` };
  }
  const context = await readStepContext(options);
  if ('code' in context) return context;
  return await executor.problem(context, agentStepInput(action, plan.with ?? {}) as never);
}

async function observeStep(
  options: JobsReaderOptions,
  begun: JobStepProgress,
  timedOut: boolean,
): Promise<StepObservation> {
  const executor = executorOf(begun.action);
  if (!executor) {
    const message = `this version of the agent cannot tell what became of ${begun.action}`;
    return { happened: 'Unknown', message, timedOut };
  }
  const context = await readStepContext(options);
  if ('code' in context) return { happened: 'Unknown', message: context.message, timedOut };
  return { ...(await executor.observe(context, begun)), timedOut };
}

export async function readStepContext({
  host,
  clock,
  journal,
}: Pick<JobsReaderOptions, 'host' | 'clock' | 'journal'>): Promise<StepContext | StepProblem> {
  const config = await readJobsConfig(host.files);
  if (typeof config === 'string') return { code: 'BadConfig', message: config };
  return { host, clock, config, journal: journal.state() };
}

/** The time limit of a step without one. The plan of a job always has it. */
const DEFAULT_TIMEOUT_SECONDS = 300;

export function timeoutMsOf({ timeoutSeconds = DEFAULT_TIMEOUT_SECONDS }: JobStepProgress): number {
  return timeoutSeconds * 1000;
}
