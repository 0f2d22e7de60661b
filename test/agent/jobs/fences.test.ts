import { describe, expect, it } from 'vitest';
import { refusal, waitReason } from '../../../src/agent/jobs/fences.ts';
import type { JobFacts } from '../../../src/agent/jobs/input.ts';
import { type JobFields, jobsInput, later, repairJob } from '../../support/agent/jobs.ts';

const END = later(50);

function explain(fields: JobFields, facts: Partial<JobFacts>): string {
  const job = repairJob(fields);
  const release = job.status?.release;
  if (!release) throw new Error('nothing is released');
  const found = refusal(jobsInput({ jobs: [job], facts }), { job, release });
  return found ? `${found.code}: ${found.message}` : 'permitted';
}

describe('the fences of a released step', () => {
  it('let a step pass that keeps all of them', () => {
    expect(explain({}, {})).toBe('permitted');
    expect(explain({}, { skewMs: -29_000 })).toBe('permitted');
    // What is unknown is waited for.
    expect(explain({}, { skewMs: undefined, nodeUid: undefined })).toBe('permitted');
    expect(waitReason(jobsInput(), undefined)).toBeUndefined();
  });

  it('let a step after the verification pass, as those of the plan', () => {
    const [planned] = repairJob().spec.plan;
    const onVerified = planned ? [{ ...planned, id: 'v1' }] : [];
    expect(explain({ release: { step: 'v1' }, spec: { onVerified } }, {})).toBe('permitted');
    expect(explain({ release: { step: 'v2' }, spec: { onVerified } }, {})).toBe(
      'UnknownStep: the plan has no step v2',
    );
  });

  it.each<[string, JobFields, Partial<JobFacts>, string]>([
    [
      'another machine',
      { spec: { machine: { name: 'n2', uid: 'uid-2' } } },
      {},
      'WrongMachine: the job is for Machine n2 with UID uid-2',
    ],
    [
      'a machine that was recreated',
      { spec: { machine: { name: 'n1', uid: 'uid-0' } } },
      {},
      'WrongMachine: the job is for Machine n1 with UID uid-0',
    ],
    [
      'a job that was cancelled',
      { spec: { cancel: { by: 'anna', reason: 'wrong node' } } },
      {},
      'Cancelled: cancelled by anna: wrong node',
    ],
    ['a job that is deleted', { deletionTimestamp: END }, {}, 'JobDeleted: the job is being deleted'],
    [
      'a machine that is held',
      {},
      { hold: 'Disruptive' },
      'Held: the machine is held: remove spec.hold and the hold annotations to continue',
    ],
    [
      'a release with another fence than the grant',
      { release: { fence: 8 } },
      {},
      'WrongFence: the release has fence 8, the grant of the job 7',
    ],
    [
      'a grant that an entry of the Machine replaced',
      {},
      { entryFence: 9 },
      'OldFence: the grant has fence 7, a grant with fence 9 came after it',
    ],
    [
      'another Node than that of the job',
      { release: { nodeUID: 'node-2' } },
      {},
      'WrongNode: the release is for Node UID node-2, this Node has node-1',
    ],
    [
      'a Node that was registered again',
      {},
      { nodeUid: 'node-9' },
      'WrongNode: the release is for Node UID node-1, this Node has node-9',
    ],
    [
      'an earlier boot',
      {},
      { bootId: 'boot-2' },
      'WrongBoot: the release is for boot boot-1, this is boot boot-2',
    ],
    [
      'a clock that is ahead',
      {},
      { skewMs: 31_000 },
      'ClockSkew: this clock is 31 s ahead of the API server: correct it',
    ],
    [
      'a clock that is behind',
      {},
      { skewMs: -90_000 },
      'ClockSkew: this clock is 90 s behind the API server: correct it',
    ],
    [
      'a release that has ended',
      { release: { notAfter: later(-1) } },
      {},
      `ReleaseExpired: the release ended ${later(-1)}`,
    ],
    [
      'a release whose end cannot be read',
      { release: { notAfter: 'soon' } },
      { isExpired: () => true },
      'ReleaseExpired: the release ended soon',
    ],
    [
      'a job past its deadline',
      { spec: { deadline: later(-1) } },
      {},
      `DeadlinePassed: the job had to be finished ${later(-1)}`,
    ],
    [
      'a grant that was not renewed',
      { status: { grant: { notAfter: later(-5) } } },
      {},
      `GrantExpired: the grant ended ${later(-5)} and was not renewed`,
    ],
    ['a step that the plan lacks', { release: { step: 's9' } }, {}, 'UnknownStep: the plan has no step s9'],
    [
      'a step of the job controller',
      { plan: { step: 'Drain@v1', executor: 'Central' } },
      {},
      'NotForAgent: step s1 is carried out by the job controller',
    ],
    [
      'a step that only the job controller carries out, although the plan names the agent',
      { plan: { step: 'Drain@v1' } },
      {},
      'UnknownStep: this version of the agent does not know Drain@v1',
    ],
    [
      'a step that does not exist',
      { plan: { step: 'RunShell@v1' } },
      {},
      'UnknownStep: this version of the agent does not know RunShell@v1',
    ],
    [
      'another version of a step',
      { plan: { step: 'Reboot@v2' } },
      {},
      'UnknownStep: this version of the agent does not know Reboot@v2',
    ],
    [
      'an unknown parameter',
      { plan: { with: { service: 'web', command: 'sh' } } },
      {},
      'InvalidInput: RestartService@v1: with.command: unknown field',
    ],
    [
      'a missing parameter',
      { plan: { with: {} } },
      {},
      'InvalidInput: RestartService@v1: with.service: is required',
    ],
  ])('AGT-50 AGT-52 R38 refuses a released step for %s with its reason', (_, job, facts, expected) => {
    expect(explain(job, facts)).toBe(expected);
  });
});
