/** Repair jobs for tests: one released step, valid by default; a test overrides what it is about. */
import type { JobFacts, JobsInput, JobsPlan } from '../../../src/agent/jobs/input.ts';
import type { JobStepProgress } from '../../../src/agent/journal/jobs.ts';
import { jobStepKey } from '../../../src/agent/journal/jobs.ts';
import type {
  JobRelease,
  JobStep,
  RemedyOperationJob,
  RemedyOperationJobSpec,
  RemedyOperationJobStatus,
} from '../../../src/api/generated/types.ts';
import { optional } from '../../../src/kube/objects/optional.ts';
import { NOW } from '../virtual-clock.ts';

export const MACHINE = { name: 'n1', uid: 'uid-1' };
const END = new Date(NOW.getTime() + 3_600_000).toISOString();

export interface JobFields {
  readonly name?: string;
  readonly uid?: string;
  readonly spec?: Partial<RemedyOperationJobSpec>;
  readonly plan?: Partial<JobStep>;
  /** Null: nothing is released. */
  readonly release?: Partial<JobRelease> | null;
  readonly status?: Partial<RemedyOperationJobStatus>;
  readonly deletionTimestamp?: string;
}

/** By default it restarts the service web on the only host of these tests, and has an hour for it. */
export function repairJob({ name = 'job-1', uid = name, ...fields }: JobFields = {}): RemedyOperationJob {
  const fence = fields.spec?.grant?.fence ?? 7;
  const release: JobRelease = {
    step: 's1',
    try: 1,
    fence,
    nodeUID: 'node-1',
    bootID: 'boot-1',
    notAfter: later(50),
  };
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'RemedyOperationJob',
    metadata: { name, uid, ...optional('deletionTimestamp', fields.deletionTimestamp) },
    spec: {
      machine: MACHINE,
      node: { uid: 'node-1', bootID: 'boot-1' },
      grant: { id: `g-${fence}`, fence, issuedAt: NOW.toISOString(), notAfter: END },
      deadline: END,
      plan: [planStep(fields.plan)],
      ...fields.spec,
    },
    status: jobStatus(fields, release),
  } as unknown as RemedyOperationJob;
}

function jobStatus({ release, status }: JobFields, usual: JobRelease): RemedyOperationJob['status'] {
  const released = release !== null && { release: { ...usual, ...release } };
  return { conditions: [], ...released, ...status };
}

export function planStep(fields: Partial<JobStep> = {}): JobStep {
  return {
    id: 's1',
    step: 'RestartService@v1',
    executor: 'Agent',
    risk: 'Pod',
    with: { service: 'web' },
    timeoutSeconds: 60,
    onFailure: 'Fail',
    onTimeout: 'Fail',
    ...fields,
  };
}

export function later(seconds: number, from: Date = NOW): string {
  return new Date(from.getTime() + seconds * 1000).toISOString();
}

export function stepProgress(fields: Partial<JobStepProgress> = {}): JobStepProgress {
  return {
    job: 'job-1',
    jobName: 'job-1',
    step: 's1',
    try: 1,
    fence: 7,
    action: 'RestartService',
    state: 'Begun',
    at: NOW.toISOString(),
    bootId: 'boot-1',
    input: { service: 'web' },
    timeoutSeconds: 60,
    ...fields,
  };
}

const FACTS: JobFacts = {
  online: true,
  bootId: 'boot-1',
  nodeUid: 'node-1',
  skewMs: 0,
  hold: 'None',
  entryFence: 0,
  isExpired: (_job, release) => Date.parse(release.notAfter) <= NOW.getTime(),
  changing: undefined,
  busy: false,
  problems: new Map(),
};

export interface JobsFields {
  readonly jobs?: readonly RemedyOperationJob[];
  readonly journal?: readonly JobStepProgress[];
  readonly facts?: Partial<JobFacts>;
}

export function jobsInput({ jobs = [repairJob()], journal = [], facts = {} }: JobsFields = {}): JobsInput {
  return {
    machine: MACHINE,
    jobs,
    journal: new Map(journal.map((each) => [jobStepKey(each), each])),
    facts: { ...FACTS, ...facts },
    now: NOW,
  };
}

/** A plan as one line: the act and its reason, then what waits. */
export function explainJobs({ act, waits }: JobsPlan): string {
  const waiting = waits.map(({ job, code, because }) => `${job.metadata.name} waits ${code}: ${because}`);
  return [...(act ? [explainAct(act)] : []), ...waiting].join(', ') || 'nothing';
}

function explainAct(act: NonNullable<JobsPlan['act']>): string {
  switch (act.type) {
    case 'Begin':
      return `begin ${act.step.action} of ${act.step.job.metadata.name}: ${act.because}`;
    case 'Refuse':
      return `refuse ${act.job.metadata.name} ${act.code}: ${act.because}`;
    case 'Resume':
      return `resume ${act.progress.jobName}: ${act.because}`;
    case 'End':
      return `end ${act.progress.jobName} ${act.state}${act.code === undefined ? '' : ` ${act.code}`}: ${act.because}`;
    default:
      return act;
  }
}
