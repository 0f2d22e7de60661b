/**
 * Carries out what the planner of repair jobs decides. A step is recorded in the journal, then done beside the loop of the
 * agent, which continues with its heartbeat; only the loop writes the journal. After a crash at any line the next process
 * looks at the host before it decides what became of a begun step.
 */
import type { AgentStep, JobRelease, RemedyOperationJob } from '../../api/generated/types.ts';
import { optional } from '../../kube/objects/optional.ts';
import { truncate } from '../../kube/objects/truncate.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import type { AcceptedState } from '../desired/accepted.ts';
import type { Host } from '../host/port.ts';
import { begunStep, type JobStepProgress } from '../journal/jobs.ts';
import type { Journal } from '../journal/journal.ts';
import type { AgentApi } from '../run/api.ts';
import { createGrantClock } from '../run/grant-clock.ts';
import { answerFor, type ReportedJobStep, reportJobs } from './answer.ts';
import { isActiveJob } from './circumstances.ts';
import { plannedStep, releaseKey } from './fences.ts';
import type { JobAct, JobsPlan, JobWait, ReleasedStep } from './input.ts';
import { type StoredOutput, storeOutput, sweepOutputs } from './output.ts';
import { planJobs } from './plan.ts';
import { createJobsReader, type JobsReader, readStepContext, timeoutMsOf } from './reader.ts';
import { agentStepInput, agentStepRisk } from './step-table.ts';
import { createStepWork, type StepWork } from './step-work.ts';
import type { StepContext, StepExecutor } from './steps/executor.ts';
import { executorOf } from './steps/executors.ts';

export interface JobRunnerOptions {
  readonly host: Host;
  readonly api: AgentApi;
  readonly clock: Clock;
  readonly log: Log;
  readonly journal: Journal;
  /** Handles the end of work: it is called when the work of a step has ended. */
  readonly onChange: () => void;
}

/** The longest time that a release lives, whatever it claims. */
const MAX_RELEASE_MS = 60_000;
/** The maximum number of acts in one reconcile: more than a machine has jobs at a time. */
const MAX_ACTS = 32;
const MAX_MESSAGE = 256;

export class JobRunner {
  readonly #options: JobRunnerOptions;
  readonly #isExpired: (job: RemedyOperationJob, release: JobRelease) => boolean;
  readonly #written = new Map<string, string>();
  readonly #work: StepWork;
  readonly #reader: JobsReader;
  #hasSwept = false;

  constructor(options: JobRunnerOptions) {
    this.#options = options;
    const releases = createGrantClock(options.clock, MAX_RELEASE_MS);
    this.#isExpired = (job, release) =>
      releases.isExpired({
        id: releaseKey({ job, release }),
        fence: release.fence,
        notAfter: release.notAfter,
      });
    this.#work = createStepWork(options);
    this.#reader = createJobsReader({ ...options, work: this.#work, isExpired: this.#isExpired });
  }

  /** Tells whether components must not be touched: a step that disturbs them works on the host. */
  isDisturbing(): boolean {
    const action = this.#work.current()?.action;
    return action !== undefined && agentStepRisk(action) !== 'None';
  }

  /** Tells whether no component change may begin: a job works on this machine, or is between two of its steps. */
  isActive(): boolean {
    const { journal, api, clock } = this.#options;
    if (begunStep(journal.state().jobs) || this.#work.isBusy()) return true;
    return (api.jobs() ?? []).some((job) => isActiveJob(job, clock.now()));
  }

  /** Stops the work. It ends no program on the host: the next agent checks what the program did. */
  stop(): void {
    this.#work.stop();
  }

  /** Decides and acts until nothing is left to do now, then reports. */
  async reconcile(state: AcceptedState): Promise<readonly ReportedJobStep[]> {
    const { journal, log } = this.#options;
    await this.#recordResult();
    const nodeUid = await this.#reader.nodeUid();
    let plan: JobsPlan = { waits: [] };
    for (let acts = 0; acts < MAX_ACTS; acts += 1) {
      plan = planJobs(await this.#reader.read(state, nodeUid));
      if (!plan.act) break;
      await this.#carryOut(plan.act);
    }
    await this.#answer(plan.waits);
    if (!this.#hasSwept) await sweepOutputs(this.#options.host.files, journal.state().jobs);
    this.#hasSwept = true;
    log.debug('jobs reconciled', { waits: plan.waits.map(({ code }) => code) });
    return reportJobs(journal.state().jobs, plan.waits);
  }

  async #carryOut(act: JobAct): Promise<void> {
    this.#log(act);
    switch (act.type) {
      case 'Begin':
        return await this.#begin(act.step);
      case 'Resume':
        return await this.#start(act.progress);
      case 'Refuse':
        return await this.#refuse(act);
      case 'End':
        return await this.#record(act.progress, act);
      default:
        return act;
    }
  }

  async #begin({ job, release, plan, action }: ReleasedStep): Promise<void> {
    const { host, clock, journal } = this.#options;
    const [executor, context] = [executorOf(action), await readStepContext(this.#options)];
    if (!executor || 'code' in context) return;
    const input = agentStepInput(action, plan.with ?? {});
    const progress: JobStepProgress = {
      ...identityOf(job, release),
      action,
      state: 'Begun',
      at: clock.now().toISOString(),
      bootId: await host.node.bootId(),
      input,
      timeoutSeconds: plan.timeoutSeconds,
      ...optional('before', await executor.before?.(context, input)),
    };
    await journal.append({ type: 'Job', ...progress });
    // The process may have been stopped for half an hour since the plan was made.
    if (!this.#isExpired(job, release)) return await this.#start(progress, { executor, context });
    await this.#record(progress, {
      state: 'Failed',
      code: 'ReleaseExpired',
      because: 'the release ended before the step began',
    });
  }

  async #start(
    progress: JobStepProgress,
    known?: { readonly executor: StepExecutor; readonly context: StepContext },
  ): Promise<void> {
    const executor = known?.executor ?? executorOf(progress.action);
    const context = known?.context ?? (await readStepContext(this.#options));
    if (!executor || 'code' in context) return;
    // The next reconcile carries it out.
    if (!executor.execute) return this.#options.onChange();
    this.#work.start(progress, { executor, context, timeoutMs: timeoutMsOf(progress) });
  }

  async #refuse({ job, release, code, because }: Extract<JobAct, { type: 'Refuse' }>): Promise<void> {
    const { host, clock, journal } = this.#options;
    const action = plannedStep(job, release.step)?.step ?? '';
    await journal.append({
      type: 'Job',
      ...identityOf(job, release),
      action,
      state: 'Refused',
      at: clock.now().toISOString(),
      bootId: await host.node.bootId(),
      code,
      message: truncate(because, MAX_MESSAGE),
    });
  }

  /** Records the result of the work of this process, if it has ended. */
  async #recordResult(): Promise<void> {
    const ended = this.#work.takeResult();
    if (!ended) return;
    const { progress, result } = ended;
    const { state, code, message: because, output } = result;
    this.#log({ type: 'End', progress, state, because, ...optional('code', code) });
    await this.#record(progress, { state, because, code, ...(await this.#storeOutput(progress, output)) });
    this.#hasSwept = false;
  }

  /** Stores the output of a step. A full disk must not hide that the step is done. */
  async #storeOutput(
    progress: JobStepProgress,
    output: string | undefined,
  ): Promise<StoredOutput | undefined> {
    if (output === undefined || output === '') return undefined;
    const { host, log } = this.#options;
    try {
      return await storeOutput(host.files, progress, output);
    } catch (error) {
      log.warn('output of the job step not stored', { job: progress.jobName, error });
      return undefined;
    }
  }

  async #record(progress: JobStepProgress, end: StepEnd): Promise<void> {
    const { host, clock, journal } = this.#options;
    await journal.append({
      type: 'Job',
      ...progress,
      state: end.state,
      finishedAt: clock.now().toISOString(),
      bootIdAfter: await host.node.bootId(),
      message: truncate(end.because, MAX_MESSAGE),
      ...optional('code', end.code),
      ...optional('output', end.output),
      ...optional('outputDigest', end.outputDigest),
    });
  }

  async #answer(waits: readonly JobWait[]): Promise<void> {
    const { api, journal } = this.#options;
    const jobs = api.isOnline() ? (api.jobs() ?? []) : [];
    for (const job of jobs) {
      const steps = answerFor(job, journal.state().jobs, waits);
      if (steps) await this.#writeAnswer(job.metadata, steps);
    }
    const uids = new Set(jobs.map(({ metadata }) => metadata.uid));
    for (const uid of this.#written.keys()) if (!uids.has(uid)) this.#written.delete(uid);
  }

  /** Writes the answer to a job. What could not be written is written by the next reconcile. */
  async #writeAnswer(
    { name, uid = '' }: RemedyOperationJob['metadata'],
    steps: readonly AgentStep[],
  ): Promise<void> {
    const text = JSON.stringify(steps);
    // The watch may still show the job as it was before the last write.
    if (this.#written.get(uid) === text) return;
    try {
      await this.#options.api.writeJobStatus({ name, uid }, steps);
      this.#written.set(uid, text);
    } catch (error) {
      this.#options.log.warn('status of the job not written', { job: name, error });
    }
  }

  #log(act: JobAct): void {
    const { log } = this.#options;
    const { job, step, action } = describeAct(act);
    const code = 'code' in act ? optional('code', act.code) : {};
    const state = 'state' in act ? { state: act.state } : {};
    log.info('job step', { job, step, action, act: act.type, ...state, ...code, because: act.because });
  }
}

interface StepEnd {
  readonly state: 'Succeeded' | 'Failed' | 'Ambiguous';
  readonly because: string;
  readonly code?: string | undefined;
  readonly output?: string | undefined;
  readonly outputDigest?: string | undefined;
}

function identityOf(
  { metadata }: RemedyOperationJob,
  release: JobRelease,
): Pick<JobStepProgress, 'job' | 'jobName' | 'step' | 'try' | 'fence'> {
  const { step, try: attempt, fence } = release;
  return { job: metadata.uid ?? '', jobName: metadata.name, step, try: attempt, fence };
}

function describeAct(act: JobAct): { readonly job: string; readonly step: string; readonly action: string } {
  if (act.type === 'Begin') {
    return { job: act.step.job.metadata.name, step: act.step.plan.id, action: act.step.action };
  }
  if (act.type === 'Refuse') return { job: act.job.metadata.name, step: act.release.step, action: '' };
  return { job: act.progress.jobName, step: act.progress.step, action: act.progress.action };
}
