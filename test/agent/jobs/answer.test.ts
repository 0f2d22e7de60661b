import { describe, expect, it } from 'vitest';
import { answerFor, reportJobs } from '../../../src/agent/jobs/answer.ts';
import type { JobWait } from '../../../src/agent/jobs/input.ts';
import { type JobStepProgress, jobStepKey } from '../../../src/agent/journal/jobs.ts';
import type { AgentStep, RemedyOperationJob } from '../../../src/api/generated/types.ts';
import { later, repairJob, stepProgress } from '../../support/agent/jobs.ts';

const AT = later(0);
const WAITS: AgentStep = { id: 's1', try: 1, fence: 7, state: 'Running', code: 'Offline', message: 'why' };

function journal(...steps: readonly JobStepProgress[]): ReadonlyMap<string, JobStepProgress> {
  return new Map(steps.map((each) => [jobStepKey(each), each]));
}

function answered(...steps: readonly AgentStep[]): RemedyOperationJob {
  return repairJob({ status: { agent: { steps } } });
}

function waiting(job: RemedyOperationJob): JobWait {
  const release = job.status?.release;
  if (!release) throw new Error('nothing is released');
  return { job, release, code: 'Offline', because: 'why' };
}

describe('the answer of the agent to a job', () => {
  it('is nothing when nothing was begun, refused or waits', () => {
    expect(answerFor(repairJob(), journal(), [])).toBeUndefined();
    expect(answerFor(repairJob(), journal(stepProgress({ job: 'other' })), [])).toBeUndefined();
  });

  it.each<[string, Partial<JobStepProgress>, Partial<AgentStep>]>([
    ['a begun step', {}, { state: 'Running', startedAt: AT, bootIDBefore: 'boot-1' }],
    [
      'a step that ended',
      { state: 'Failed', code: 'TimedOut', message: 'm', finishedAt: AT, bootIdAfter: 'boot-2', output: 'o' },
      {
        state: 'Failed',
        startedAt: AT,
        bootIDBefore: 'boot-1',
        finishedAt: AT,
        bootIDAfter: 'boot-2',
        code: 'TimedOut',
        message: 'm',
        output: 'o',
      },
    ],
    [
      'a refused step, which has no start',
      { state: 'Refused', code: 'Held', message: 'm' },
      { state: 'Refused', finishedAt: AT, code: 'Held', message: 'm' },
    ],
  ])('shows %s', (_, progress, expected) => {
    const found = answerFor(repairJob(), journal(stepProgress(progress)), []);
    expect(found).toEqual([{ id: 's1', try: 1, fence: 7, ...expected }]);
    // Once it is written, nothing is left to write, in whatever order the server returns the fields.
    const [step = WAITS] = found ?? [];
    const reordered = Object.fromEntries(Object.entries(step).toReversed()) as unknown as AgentStep;
    expect(answerFor(answered(reordered), journal(stepProgress(progress)), [])).toBeUndefined();
  });

  it('announces a released step that waits, and ends the announcement when the release is withdrawn', () => {
    const job = repairJob();
    expect(answerFor(job, journal(), [waiting(job)])).toEqual([WAITS]);
    expect(answerFor(answered(WAITS), journal(), [waiting(job)])).toBeUndefined();
    expect(answerFor(answered(WAITS), journal(), [])).toMatchObject([
      { state: 'Refused', code: 'Withdrawn' },
    ]);
  });

  it('AGT-51 leaves no step running that the journal does not know any more', () => {
    const running: AgentStep = { id: 's1', try: 2, fence: 7, state: 'Running', startedAt: AT };
    const found = answerFor(answered(running), journal(stepProgress()), []);
    expect(found).toMatchObject([{ try: 2, state: 'Ambiguous', code: 'JournalLost', startedAt: AT }]);
    expect(answerFor(answered(running), journal(stepProgress({ try: 2 })), [])).toMatchObject([
      { state: 'Running' },
    ]);
  });

  it('keeps steps that it does not know, and the newest try of each', () => {
    const old: AgentStep = { id: 's0', try: 1, fence: 7, state: 'Succeeded' };
    const both = journal(stepProgress({ try: 2 }), stepProgress({ state: 'Failed' }));
    expect(answerFor(answered(old), both, [])?.map(({ id, try: attempt }) => `${id} ${attempt}`)).toEqual([
      's0 1',
      's1 2',
    ]);
    expect(answerFor(answered({ ...WAITS, try: 3, state: 'Failed' }), both, [])).toBeUndefined();
  });

  it('shows on the host what waits, then the newest steps', () => {
    const job = repairJob({ name: 'job-2' });
    const steps = journal(stepProgress({ state: 'Succeeded', finishedAt: AT }), stepProgress({ step: 's2' }));
    const shown = reportJobs(steps, [waiting(job)]);
    expect(shown.map(({ job: name, step, state, action }) => `${name} ${step} ${state} ${action}`)).toEqual([
      'job-2 s1 Waiting RestartService@v1',
      'job-1 s2 Running RestartService',
      'job-1 s1 Succeeded RestartService',
    ]);
  });
});
