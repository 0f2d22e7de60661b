/**
 * Decides why a released step must never begin, and why it must not begin yet. Each answer is final for the try: what a refused release
 * asked for is done only by another try. Pure.
 */
import type { JobRelease, JobStep, RemedyOperationJob } from '../../api/generated/types.ts';
import { highestFence, jobStepKey } from '../journal/jobs.ts';
import type { JobsInput, JobWaitCode, ReleasedStep, StepProblem } from './input.ts';
import { agentStepOfReference, agentStepProblems, agentStepRisk } from './step-table.ts';

export interface Released {
  readonly job: RemedyOperationJob;
  readonly release: JobRelease;
}

/** The maximum skew, as the requirement states it: a clock that is further away judges no time. */
const MAX_SKEW_MS = 30_000;

/** Returns the step that the release names, or why it names none that this agent may carry out. */
export function releasedStep({ job, release }: Released): ReleasedStep | StepProblem {
  const plan = plannedStep(job, release.step);
  if (!plan) return problem('UnknownStep', `the plan has no step ${release.step}`);
  if (plan.executor !== 'Agent') {
    return problem('NotForAgent', `step ${plan.id} is carried out by the job controller`);
  }
  const action = agentStepOfReference(plan.step);
  if (!action) {
    return problem('UnknownStep', `this version of the agent does not know ${plan.step}`);
  }
  const [wrong] = agentStepProblems(action, plan.with ?? {});
  if (wrong) return problem('InvalidInput', `${plan.step}: with.${wrong.path}: ${wrong.message}`);
  return { job, release, plan, action };
}

/** Returns the step of the plan, or of the steps after the verification: their ids differ. */
export function plannedStep({ spec }: RemedyOperationJob, id: string): JobStep | undefined {
  return [...spec.plan, ...(spec.onVerified ?? [])].find((step) => step.id === id);
}

type Fence = (input: JobsInput, released: Released) => StepProblem | undefined;

/** The fences in order: the first one that refuses is reported. */
const FENCES: readonly Fence[] = [
  machineFence,
  jobFence,
  holdFence,
  grantFence,
  nodeFence,
  clockFence,
  timeFence,
];

export function refusal(input: JobsInput, released: Released): StepProblem | undefined {
  for (const fence of FENCES) {
    const found = fence(input, released);
    if (found) return found;
  }
  const step = releasedStep(released);
  if ('code' in step) return step;
  return riskProblem(input, step) ?? input.facts.problems.get(releaseKey(released));
}

export function releaseKey({ job, release }: Released): string {
  return jobStepKey({ job: job.metadata.uid ?? '', step: release.step, try: release.try });
}

function machineFence({ machine }: JobsInput, { job: { spec } }: Released): StepProblem | undefined {
  if (spec.machine.name === machine.name && spec.machine.uid === machine.uid) return undefined;
  return problem('WrongMachine', `the job is for Machine ${spec.machine.name} with UID ${spec.machine.uid}`);
}

function jobFence({ journal }: JobsInput, { job, release }: Released): StepProblem | undefined {
  const { cancel } = job.spec;
  if (cancel) return problem('Cancelled', `cancelled by ${cancel.by}: ${cancel.reason}`);
  if (job.metadata.deletionTimestamp !== undefined) return problem('JobDeleted', 'the job is being deleted');
  const later = [...journal.values()].find(
    (each) => each.job === job.metadata.uid && each.step === release.step && each.try > release.try,
  );
  return later && problem('OldTry', `try ${later.try} of this step was released before`);
}

function holdFence({ facts }: JobsInput): StepProblem | undefined {
  if (facts.hold === 'None') return undefined;
  return problem('Held', 'the machine is held: remove spec.hold and the hold annotations to continue');
}

/** Checks the fence of the grant. Every executor refuses a fence lower than the highest so far: that grant was replaced by another one. */
function grantFence({ journal, facts }: JobsInput, { job, release }: Released): StepProblem | undefined {
  const { fence } = job.spec.grant;
  if (release.fence !== fence) {
    return problem('WrongFence', `the release has fence ${release.fence}, the grant of the job ${fence}`);
  }
  const highest = Math.max(highestFence(journal), facts.entryFence);
  if (fence >= highest) return undefined;
  return problem('OldFence', `the grant has fence ${fence}, a grant with fence ${highest} came after it`);
}

function nodeFence({ facts }: JobsInput, { job, release }: Released): StepProblem | undefined {
  const nodeUid = facts.nodeUid ?? release.nodeUID;
  if (release.nodeUID !== job.spec.node.uid || release.nodeUID !== nodeUid) {
    return problem('WrongNode', `the release is for Node UID ${release.nodeUID}, this Node has ${nodeUid}`);
  }
  if (release.bootID === facts.bootId) return undefined;
  return problem('WrongBoot', `the release is for boot ${release.bootID}, this is boot ${facts.bootId}`);
}

function clockFence({ facts: { skewMs } }: JobsInput): StepProblem | undefined {
  if (skewMs === undefined || Math.abs(skewMs) <= MAX_SKEW_MS) return undefined;
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  const side = skewMs > 0 ? 'ahead of' : 'behind';
  return problem('ClockSkew', `this clock is ${seconds} s ${side} the API server: correct it`);
}

function timeFence({ facts, now }: JobsInput, { job, release }: Released): StepProblem | undefined {
  if (facts.isExpired(job, release)) {
    return problem('ReleaseExpired', `the release ended ${release.notAfter}`);
  }
  if (hasPassed(job.spec.deadline, now)) {
    return problem('DeadlinePassed', `the job had to be finished ${job.spec.deadline}`);
  }
  return undefined;
}

/**
 * Checks the grant for the risk of the step. A step without a risk needs no renewed grant. The risk is that of the catalog, not what the
 * job calls it.
 */
function riskProblem({ now }: JobsInput, { job, action }: ReleasedStep): StepProblem | undefined {
  if (agentStepRisk(action) === 'None') return undefined;
  const notAfter = job.status?.grant?.notAfter ?? job.spec.grant.notAfter;
  if (!hasPassed(notAfter, now)) return undefined;
  return problem('GrantExpired', `the grant ended ${notAfter} and was not renewed`);
}

/** Tells whether a time is over. A time that cannot be read is over. */
function hasPassed(time: string, now: Date): boolean {
  return !(Date.parse(time) > now.getTime());
}

/** Returns why the step must not begin yet: what is not known now, and what must not happen at the same time. */
export function waitReason(
  { facts }: JobsInput,
  begun: { readonly jobName: string; readonly step: string } | undefined,
): { readonly code: JobWaitCode; readonly because: string } | undefined {
  if (begun) return { code: 'StepRunning', because: `waits for step ${begun.step} of ${begun.jobName}` };
  if (facts.busy) {
    return { code: 'StepRunning', because: 'waits for an earlier step that did not end within its time' };
  }
  if (facts.skewMs === undefined) {
    return {
      code: 'ClockUnknown',
      because: 'waits for the first answer that tells the time of the API server',
    };
  }
  if (facts.nodeUid === undefined) {
    return { code: 'NodeUnknown', because: 'waits for the UID of the Node, which was not found or not read' };
  }
  if (facts.changing === undefined) return undefined;
  return { code: 'ComponentChanging', because: `waits until the change of ${facts.changing} has ended` };
}

function problem(code: string, message: string): StepProblem {
  return { code, message };
}
