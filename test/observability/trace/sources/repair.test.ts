import { describe, expect, it } from 'vitest';
import type { RemedyOperationJob } from '../../../../src/api/generated/types.ts';
import { endedRepair, repairTrace } from '../../../../src/observability/trace/sources/repair.ts';
import { spansOf } from '../../../../src/observability/trace/spans.ts';
import { changeSpan, spanIdOf, type TraceStep } from '../../../../src/observability/trace/trace.ts';
import { type JobFields, later, repairJob } from '../../../controllers/remedyjob/jobs.ts';
import { NOW } from '../../../support/virtual-clock.ts';

const DONE = { state: 'Succeeded', tries: 1 } as const;
const STEPS = [
  {
    id: 's1',
    ...DONE,
    state: 'Failed',
    startedAt: later(11),
    finishedAt: later(12),
    code: 'NoDetector',
    message: 'no detector runs',
  },
  { id: 's2', ...DONE, startedAt: later(12), finishedAt: later(13) },
  { id: 's3', ...DONE, startedAt: later(13), finishedAt: later(60) },
  { id: 's4', ...DONE, tries: 2, startedAt: later(60), finishedAt: later(90) },
  { id: 's5', ...DONE, startedAt: later(90), finishedAt: later(150) },
  { id: 'v1', ...DONE, startedAt: later(210), finishedAt: later(211) },
] as const;
const AGENT = {
  steps: [
    {
      id: 's4',
      try: 2,
      fence: 7,
      state: 'Succeeded',
      startedAt: later(62),
      finishedAt: later(95),
      bootIDBefore: 'boot-1',
      bootIDAfter: 'boot-2',
    },
  ],
} as const;
const TIMELINE = {
  firstFaultAt: later(-60),
  detectedAt: later(0),
  admittedAt: later(10),
  executedAt: later(150),
  verifiedAt: later(210),
  settledAt: later(215),
};

function jobWith(status: JobFields['status'] = {}, spec: JobFields['spec'] = {}): RemedyOperationJob {
  const outcome = { class: 'Succeeded', reason: 'Verified' } as const;
  const parts = { steps: STEPS, agent: AGENT, timeline: TIMELINE, outcome, ...status };
  return repairJob({ spec, status: parts });
}

/** Each step of the root as its name, its subject and its state. */
function stepsOf(job: RemedyOperationJob): readonly string[] {
  const { steps = [] } = repairTrace(job).root;
  return steps.map(({ name, subject, state }: TraceStep) => [name, subject, state].filter(Boolean).join(' '));
}

/** Each span as `name start-end`, in seconds after NOW, with its failure. */
function shown(job: RemedyOperationJob): readonly string[] {
  return spansOf(repairTrace(job)).map(({ name, startMs, endMs, error }) => {
    const [start, end] = [startMs, endMs].map((ms) => (ms - NOW.getTime()) / 1000);
    return `${name} ${start}-${end}${error === undefined ? '' : ` (${error})`}`;
  });
}

describe('DAT-10 the trace of a repair', () => {
  it('goes from the fault over each step to the end of the job', () => {
    expect(shown(jobWith())).toEqual([
      'repair -60-215',
      'detect -60-0',
      'decide 0-10',
      'CollectDiagnostics@v1 11-12 (NoDetector: no detector runs)',
      'Cordon@v1 12-13',
      'Drain@v1 13-60',
      'Reboot@v1 60-90',
      // The clock of the agent is ahead.
      'agent 62-90',
      'WaitForBoot@v1 90-150',
      'verify 150-210',
      'Uncordon@v1 210-211',
      'settle 211-215',
    ]);
  });

  it('ends with an error where the repair was not verified', () => {
    const outcome = { class: 'Transient', reason: 'NotVerified', message: 'Ready is False' } as const;
    const { verifiedAt: _, ...timeline } = TIMELINE;
    const job = jobWith({ outcome, timeline, steps: STEPS.slice(0, 5) });
    expect(shown(job).filter((each) => each.includes('NotVerified'))).toEqual([
      'repair -60-215 (NotVerified: Ready is False)',
      'verify 150-215 (NotVerified: Ready is False)',
    ]);
  });

  it.each([
    ['Succeeded', 'Ok'],
    ['Transient', 'Error'],
    ['Permanent', 'Error'],
    ['Ambiguous', 'Error'],
    ['HandedOff', 'Error'],
    ['Superseded', 'Unset'],
    ['Cancelled', 'Unset'],
  ] as const)('has for the outcome %s the status %s', (result, expected) => {
    expect(repairTrace(jobWith({ outcome: { class: result } })).root.outcome).toBe(expected);
  });

  it('has what is known of a job that was cancelled before its first step', () => {
    const timeline = { detectedAt: later(0), admittedAt: later(10), settledAt: later(20) };
    const job = jobWith({ steps: [], agent: { steps: [] }, timeline, outcome: { class: 'Cancelled' } });
    expect(shown(job)).toEqual(['repair 0-20', 'decide 0-10', 'settle 10-20']);
  });

  it('leaves out the answer of the agent to an earlier try', () => {
    const [answer] = AGENT.steps;
    const agent = { steps: [{ ...answer, try: 1 }] };
    expect(shown(jobWith({ agent }))).not.toContainEqual(expect.stringMatching(/^agent/));
  });

  it('shows steps that have not begun as steps, but has no spans of them', () => {
    const job = jobWith({ steps: STEPS.slice(0, 1), agent: { steps: [] } });
    expect(stepsOf(job)).toContain('Reboot@v1 s4');
    const { settledAt: _, ...timeline } = TIMELINE;
    expect(stepsOf(jobWith({ steps: STEPS.slice(0, 1), agent: { steps: [] }, timeline }))).toContain(
      'Reboot@v1 s4 Pending',
    );
    expect(shown(job).some((each) => each.startsWith('Reboot'))).toBe(false);
  });

  it('names the job, its rule, its commit, its grant and its node', () => {
    expect(repairTrace(jobWith()).root.attributes).toMatchObject({
      'kubenode.job': 'm-kernel-hang-7c1f02ab-r1-a1',
      'kubenode.commit': '4f2c9e1a77b0',
      'kubenode.rule': 'kernel-hang',
      'kubenode.grant': 'g-7-1',
      'kubenode.outcome': 'Succeeded',
      'k8s.node.name': 'm',
    });
  });

  it('is linked to the trace of the commit of its rule', () => {
    const { links } = repairTrace(jobWith());
    const { traceId, spanId } = changeSpan('4f2c9e1a77b0');
    expect(links).toEqual([{ traceId, spanId }]);
    expect(spanId).toBe(spanIdOf(traceId, ['change']));
  });

  it('has ended when the job is settled, and has the same IDs each time', () => {
    expect(endedRepair(repairJob())).toEqual([]);
    const [one, other] = [jobWith(), jobWith()].flatMap((job) => endedRepair(job));
    expect(one).toMatchObject({ key: 'repair/uid-job', endedAt: later(215) });
    expect(spansOf(one?.trace() as never)).toEqual(spansOf(other?.trace() as never));
  });
});
