import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JobFacts, JobsInput, StepObservation } from '../../../src/agent/jobs/input.ts';
import { planJobs } from '../../../src/agent/jobs/plan.ts';
import { jobStepKey } from '../../../src/agent/journal/jobs.ts';
import {
  explainJobs,
  type JobsFields,
  jobsInput,
  later,
  planStep,
  repairJob,
  stepProgress,
} from '../../support/agent/jobs.ts';
import { runs } from '../../support/sweep-size.ts';

const explain = (fields?: JobsFields): string => explainJobs(planJobs(jobsInput(fields)));
const END = later(50);

function observed(happened: StepObservation['happened'], timedOut = false): Partial<JobFacts> {
  return { observed: { happened, message: 'as it shows', timedOut } };
}

describe('the plan of repair jobs', () => {
  it('begins a released step', () => {
    expect(explain()).toBe(`begin RestartService of job-1: released until ${END}`);
  });

  it.each<[string, JobsFields, string]>([
    ['a job without a release', { jobs: [repairJob({ release: null })] }, 'nothing'],
    ['a try that succeeded here', { journal: [stepProgress({ state: 'Succeeded' })] }, 'nothing'],
    ['a try that was refused here', { journal: [stepProgress({ state: 'Refused' })] }, 'nothing'],
    ['a try that is being carried out', { journal: [stepProgress()] }, 'nothing'],
    [
      'a try that was answered before the journal was lost',
      {
        jobs: [
          repairJob({
            status: { agent: { steps: [{ id: 's1', try: 1, fence: 7, state: 'Failed', startedAt: END }] } },
          }),
        ],
      },
      'nothing',
    ],
  ])('does nothing about %s', (_, fields, expected) => {
    expect(explain(fields)).toBe(expected);
  });

  it('begins a try that was only announced, and the next try of a step that failed', () => {
    const steps = [{ id: 's1', try: 1, fence: 7, state: 'Running', code: 'Offline' }] as const;
    expect(explain({ jobs: [repairJob({ status: { agent: { steps } } })] })).toContain('begin');
    const second = repairJob({ release: { try: 2 } });
    expect(explain({ jobs: [second], journal: [stepProgress({ state: 'Failed' })] })).toContain('begin');
  });

  it('refuses what the host and its configuration refuse', () => {
    const problems = new Map([[jobStepKey(stepProgress()), { code: 'NotAllowed', message: 'not web' }]]);
    expect(explain({ facts: { problems } })).toBe('refuse job-1 NotAllowed: not web');
  });

  it('refuses a grant older than one of a step that was begun, and an older try', () => {
    const journal = [stepProgress({ job: 'job-0', fence: 8, state: 'Succeeded' })];
    expect(explain({ journal })).toBe(
      'refuse job-1 OldFence: the grant has fence 7, a grant with fence 8 came after it',
    );
    const later2 = [stepProgress({ try: 2, state: 'Failed' })];
    expect(explain({ journal: later2 })).toBe('refuse job-1 OldTry: try 2 of this step was released before');
    const forged = [stepProgress({ job: 'job-0', fence: 999, state: 'Refused' })];
    expect(explain({ journal: forged })).toContain('begin');
  });

  it('needs no renewed grant for a step without a risk', () => {
    const plan = { step: 'CollectDiagnostics@v1', with: {} };
    const job = repairJob({ plan, status: { grant: { notAfter: later(-5) } } });
    expect(explain({ jobs: [job] })).toContain('begin CollectDiagnostics');
    const lies = repairJob({ plan: { risk: 'None' }, status: { grant: { notAfter: later(-5) } } });
    expect(explain({ jobs: [lies] })).toContain('refuse job-1 GrantExpired');
  });

  it.each<[string, Partial<JobFacts>, string]>([
    [
      'the API server answers',
      { online: false },
      'Offline: the API server does not answer: nothing is begun before it does',
    ],
    [
      'the time of the API server is known',
      { skewMs: undefined },
      'ClockUnknown: waits for the first answer that tells the time of the API server',
    ],
    [
      'the Node is known',
      { nodeUid: undefined },
      'NodeUnknown: waits for the UID of the Node, which was not found or not read',
    ],
    [
      'a component is at a safe point',
      { changing: 'kubelet' },
      'ComponentChanging: waits until the change of kubelet has ended',
    ],
    [
      'an act that hangs has ended',
      { busy: true },
      'StepRunning: waits for an earlier step that did not end within its time',
    ],
  ])('AGT-52 AGT-54 begins no step before %s', (_, facts, expected) => {
    expect(explain({ facts })).toBe(`job-1 waits ${expected}`);
  });

  it('AGT-54 begins no step beside one that was begun, and the newest grant first', () => {
    const other = stepProgress({ job: 'job-0', jobName: 'job-0' });
    expect(explain({ journal: [other] })).toBe('job-1 waits StepRunning: waits for step s1 of job-0');
    const grant = { id: 'g', fence: 9, issuedAt: END, notAfter: END };
    const newer = repairJob({ name: 'job-2', spec: { grant } });
    const both = explain({ jobs: [repairJob(), newer] });
    expect(both).toContain('begin RestartService of job-2');
  });

  it('still refuses while it waits: what has ended does not begin later', () => {
    const jobs = [repairJob({ release: { notAfter: later(-1) } })];
    expect(explain({ jobs, facts: { changing: 'kubelet' } })).toContain('refuse job-1 ReleaseExpired');
  });

  it.each<[string, Partial<JobFacts>, string]>([
    ['happened', observed('Yes'), 'end job-1 Succeeded: as it shows'],
    ['happened, and it is late', observed('Yes', true), 'end job-1 Succeeded: as it shows'],
    ['failed', observed('Failed'), 'end job-1 Failed Failed: as it shows'],
    ['did not happen', observed('No'), 'end job-1 Failed Interrupted: as it shows'],
    ['did not happen within its time', observed('No', true), 'end job-1 Failed TimedOut: as it shows'],
    ['happened in part', observed('Partly'), 'resume job-1: as it shows'],
    ['happened in part within its time', observed('Partly', true), 'end job-1 Failed TimedOut: as it shows'],
    ['is unknown', observed('Unknown'), 'nothing'],
    ['is unknown after its time', observed('Unknown', true), 'end job-1 Ambiguous Unknown: as it shows'],
    ['was not begun by the loop', observed('Waits'), 'nothing'],
    [
      'was not begun by the loop within its time',
      observed('Waits', true),
      'end job-1 Failed TimedOut: as it shows',
    ],
    ['continues in the loop', observed('Continues', true), 'nothing'],
  ])('AGT-51 judges a begun step by the host after a restart, when it %s', (_, facts, expected) => {
    expect(explain({ journal: [stepProgress()], facts })).toBe(expected);
    // With or without the API server: a reboot may have taken it away.
    const alone = explain({ jobs: [], journal: [stepProgress()], facts: { ...facts, online: false } });
    expect(alone).toBe(expected);
  });

  const anyJob = fc
    .record({
      name: fc.constantFrom('a', 'b', 'c'),
      fence: fc.integer({ min: 5, max: 9 }),
      try: fc.integer({ min: 1, max: 3 }),
      seconds: fc.integer({ min: -30, max: 60 }),
      step: fc.constantFrom('RestartService@v1', 'Reboot@v1', 'Drain@v1'),
      cancelled: fc.boolean(),
    })
    .map(({ name, fence, try: attempt, seconds, step, cancelled }) =>
      repairJob({
        name,
        plan: planStep({ step, with: step.startsWith('Restart') ? { service: 'web' } : {} }),
        release: { fence, try: attempt, notAfter: later(seconds) },
        spec: {
          grant: { id: 'g', fence, issuedAt: END, notAfter: END },
          ...(cancelled && { cancel: { by: 'anna', reason: 'no' } }),
        },
      }),
    );
  const anyProgress = fc
    .record({
      job: fc.constantFrom('a', 'b', 'c'),
      fence: fc.integer({ min: 5, max: 9 }),
      try: fc.integer({ min: 1, max: 3 }),
      state: fc.constantFrom('Begun', 'Succeeded', 'Failed', 'Ambiguous', 'Refused'),
    })
    .map((fields) => stepProgress({ ...fields, jobName: fields.job }));
  const anyInput = fc
    .record({
      jobs: fc.uniqueArray(anyJob, { maxLength: 3, selector: ({ metadata }) => metadata.name }),
      journal: fc.uniqueArray(anyProgress, { maxLength: 4, selector: jobStepKey }),
      facts: fc.record(
        {
          online: fc.boolean(),
          hold: fc.constantFrom('None', 'None', 'Disruptive', 'All'),
          skewMs: fc.integer({ min: -60_000, max: 60_000 }),
          changing: fc.constantFrom('kubelet', undefined),
          busy: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
    })
    .map((fields) => jobsInput(fields as JobsFields));

  it('AGT-51 AGT-52 never begins a step twice, beside another one, or past any fence', () => {
    fc.assert(
      fc.property(anyInput, (input: JobsInput) => {
        const { act } = planJobs(input);
        if (act?.type !== 'Begin') return;
        const { job, release } = act.step;
        const known = [...input.journal.values()];
        expect(known.some((each) => each.job === job.metadata.uid && each.try >= release.try)).toBe(false);
        expect(known.some(({ state }) => state === 'Begun')).toBe(false);
        expect(known.every(({ state, fence }) => state === 'Refused' || fence <= release.fence)).toBe(true);
        expect(Date.parse(release.notAfter)).toBeGreaterThan(input.now.getTime());
        expect(job.spec.cancel).toBeUndefined();
        const { online, hold, changing, busy, skewMs } = input.facts;
        expect({ online, hold, changing, busy }).toEqual({
          online: true,
          hold: 'None',
          changing: undefined,
          busy: false,
        });
        expect(Math.abs(skewMs ?? Number.NaN)).toBeLessThanOrEqual(30_000);
      }),
      runs(500, 200_000),
    );
  });

  it('plans the same whatever the order of the jobs', () => {
    fc.assert(
      fc.property(anyInput, (input: JobsInput) => {
        const { act } = planJobs(input);
        const reversed = planJobs({ ...input, jobs: input.jobs.toReversed() });
        expect(explainJobs({ ...reversed, waits: [] })).toBe(
          explainJobs(act ? { act, waits: [] } : { waits: [] }),
        );
      }),
      runs(200, 20_000),
    );
  });
});
