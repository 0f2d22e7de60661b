/**
 * Simulates the agent of a host, as far as it carries out steps of jobs: the real planner of agents decides which release begins, and the
 * real report shows it. Simulated are its journal, its watch, and what a step does to the host.
 */

import { answerFor } from '../../../agent/jobs/answer.ts';
import { entryFence } from '../../../agent/jobs/circumstances.ts';
import type { JobAct, JobsInput, JobsPlan, StepObservation } from '../../../agent/jobs/input.ts';
import { planJobs } from '../../../agent/jobs/plan.ts';
import { applyJob, begunStep, type JobStepProgress, jobStepKey } from '../../../agent/journal/jobs.ts';
import { MACHINES, REMEDY_OPERATION_JOBS } from '../../../api/generated/resources.ts';
import type { Machine } from '../../../api/generated/types.ts';
import { MANAGER_AGENT } from '../../../api/names.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { bootIdOfHost, isSilentHost, type SimulatedHost } from '../hosts.ts';
import { type Patient, patientOf, type RepairsContext } from './sick-machine.ts';

/** The limit of acts in one step: more than a machine has jobs at a time. */
const MAX_ACTS = 32;
/** The chance that the watch is delayed: its next event comes with the next step. */
const DELAYED = 0.1;
const SECOND_MS = 1000;

interface Agent {
  readonly host: SimulatedHost;
  readonly machine: Machine;
  readonly patient: Patient;
  readonly context: RepairsContext;
}

export function stepJobs(host: SimulatedHost, context: RepairsContext): void {
  const { api, nowMs, random } = context;
  const machine = api.get(MACHINES, host.name);
  if (machine?.metadata.uid !== host.uid) return;
  const patient = patientOf(context, host.name, host.uid);
  if (host.isDown) patient.rebootMs = undefined;
  if (patient.rebootMs !== undefined && nowMs() >= patient.rebootMs) reboot(host, patient, context);
  if (isSilentHost(host, nowMs())) return;
  if (!random.chance(DELAYED)) patient.jobs = jobsOn(host.name, context);
  carryOut({ host, machine, patient, context });
}

function jobsOn(name: string, { api }: RepairsContext): Patient['jobs'] {
  return api.list(REMEDY_OPERATION_JOBS).filter(({ spec }) => spec.machine.name === name);
}

/** Reboots a host: it is down for a while, and some hosts do not return for long. */
function reboot(
  host: SimulatedHost,
  patient: Patient,
  { random, nowMs, judge, broken }: RepairsContext,
): void {
  const downMs = random.chance(0.1) ? 1200 * SECOND_MS : (20 + random.below(100)) * SECOND_MS;
  const upMs = nowMs() + downMs;
  host.boots += 1;
  Object.assign(host, {
    silentUntilMs: Math.max(host.silentUntilMs, upMs),
    notReadyUntilMs: Math.max(host.notReadyUntilMs, upMs),
  });
  judge.rebooted(host.name, patient.rebootOf ?? '');
  const isRepeated = broken === 'RebootRepeated' && host.boots % 2 === 0;
  patient.rebootMs = isRepeated ? upMs + 10 * SECOND_MS : undefined;
  if (patient.illness?.cure === 'Reboot') patient.illness = undefined;
}

function carryOut(agent: Agent): void {
  let plan: JobsPlan = { waits: [] };
  for (let acts = 0; acts < MAX_ACTS; acts += 1) {
    plan = planJobs(inputOf(agent));
    if (!plan.act) break;
    act(agent, plan.act);
  }
  answer(agent, plan);
}

function inputOf({ host, machine, patient, context: { api, nowMs } }: Agent): JobsInput {
  const { name, uid = '' } = machine.metadata;
  const observed = observedOf(host, patient, nowMs());
  return {
    machine: { name, uid },
    jobs: patient.jobs,
    journal: patient.journal,
    facts: {
      online: true,
      bootId: bootIdOfHost(host),
      nodeUid: api.get(NODES, name)?.metadata.uid,
      skewMs: 0,
      hold: machine.spec.hold ? 'All' : 'None',
      entryFence: entryFence(machine),
      isExpired: (_job, { notAfter }) => Date.parse(notAfter) <= nowMs(),
      changing: [...host.components].find(([, { work }]) => work !== undefined)?.[0],
      busy: false,
      problems: new Map(),
      ...optional('observed', observed),
    },
    now: new Date(nowMs()),
  };
}

/** Returns what the agent observes of its step. Only a reboot takes time. */
function observedOf(host: SimulatedHost, { journal }: Patient, nowMs: number): StepObservation | undefined {
  const begun = begunStep(journal);
  if (!begun) return undefined;
  const timedOut = Date.parse(begun.at) + (begun.timeoutSeconds ?? 0) * SECOND_MS <= nowMs;
  if (bootIdOfHost(host) !== begun.bootId) {
    return { happened: 'Yes', message: 'the boot id has changed', timedOut };
  }
  return timedOut ? { happened: 'Unknown', message: 'the boot id has not changed', timedOut } : undefined;
}

function act(agent: Agent, { type: what, ...given }: JobAct): void {
  const planned = { type: what, ...given } as JobAct;
  if (planned.type === 'Begin') begin(agent, planned.step);
  else if (planned.type === 'End') end(agent, planned.progress, planned);
  else if (planned.type === 'Refuse') refuse(agent, planned);
}

type Begun = Extract<JobAct, { type: 'Begin' }>['step'];

/** Begins a step: the record comes before the act. */
function begin(agent: Agent, { job, release, plan, action }: Begun): void {
  const { host, context, patient } = agent;
  const progress: JobStepProgress = {
    ...identityOf(agent, { job, release }),
    action,
    state: 'Begun',
    ...optional('timeoutSeconds', plan.timeoutSeconds),
  };
  record(patient, progress);
  context.judge.began(job, release);
  if (action === 'Reboot') beginReboot(agent, progress);
  else {
    if (patient.illness?.cure === action) patient.illness = undefined;
    const isDone = context.random.chance(0.9);
    const code = isDone ? {} : { code: 'ServiceFailed' };
    end(agent, progress, {
      state: isDone ? 'Succeeded' : 'Failed',
      ...code,
      because: `${action} on ${host.name}`,
    });
  }
}

/** Begins a reboot. Some are refused by the operating system, and some never happen although they were accepted. */
function beginReboot(agent: Agent, progress: JobStepProgress): void {
  const { patient, context } = agent;
  const { random, nowMs } = context;
  if (random.chance(0.1)) {
    end(agent, progress, { state: 'Failed', code: 'RebootRefused', because: 'the reboot was refused' });
    return;
  }
  if (random.chance(0.1)) return;
  patient.rebootOf = jobStepKey(progress);
  patient.rebootMs = nowMs() + random.below(20) * SECOND_MS;
}

function refuse(agent: Agent, refused: Extract<JobAct, { type: 'Refuse' }>): void {
  const { code, because: message } = refused;
  record(agent.patient, { ...identityOf(agent, refused), action: '', state: 'Refused', code, message });
}

type Ended = Pick<Extract<JobAct, { type: 'End' }>, 'state' | 'because' | 'code'>;

function end(
  { host, patient, context }: Agent,
  progress: JobStepProgress,
  { state, because, code }: Ended,
): void {
  record(patient, {
    ...progress,
    state,
    finishedAt: new Date(context.nowMs()).toISOString(),
    bootIdAfter: bootIdOfHost(host),
    message: because,
    ...optional('code', code),
  });
}

function record(patient: Patient, progress: JobStepProgress): void {
  patient.journal = applyJob(patient.journal, { type: 'Job', ...progress });
}

type Identity = Pick<JobStepProgress, 'job' | 'jobName' | 'step' | 'try' | 'fence' | 'at' | 'bootId'>;

function identityOf({ host, context }: Agent, { job, release }: Pick<Begun, 'job' | 'release'>): Identity {
  const { step, try: attempt, fence } = release;
  const { uid = '', name } = job.metadata;
  const at = new Date(context.nowMs()).toISOString();
  return { job: uid, jobName: name, step, try: attempt, fence, at, bootId: bootIdOfHost(host) };
}

function answer({ patient, context: { api } }: Agent, { waits }: JobsPlan): void {
  for (const { metadata } of patient.jobs) {
    const job = api.get(REMEDY_OPERATION_JOBS, metadata.name);
    const steps =
      job?.metadata.uid === metadata.uid ? answerFor(job as never, patient.journal, waits) : undefined;
    if (!job || !steps) continue;
    const { apiVersion, kind } = job;
    api.apply(
      { apiVersion, kind, metadata: { name: metadata.name }, status: { agent: { steps } } },
      { manager: MANAGER_AGENT, subresource: 'status', force: true },
    );
  }
}
