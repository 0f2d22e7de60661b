import { describe, expect, it } from 'vitest';
import type { AgentStep, JobStepAnswer, JobStepStatus } from '../../../../src/api/generated/types.ts';
import type { JobInput } from '../../../../src/controllers/remedyjob/observe/observe.ts';
import { abortOf, planAbort } from '../../../../src/controllers/remedyjob/plan/abort.ts';
import {
  agentAnswer,
  CORDONED,
  explained,
  type JobFields,
  jobNode,
  jobStep,
  later,
  observation,
  records,
  repairJob,
} from '../jobs.ts';

const steps = records('s1 Succeeded, s2 Intended');
const cancel = { by: 'anna', reason: 'test' };

const guarded = (reason: string): JobFields => ({
  status: {
    steps,
    conditions: [{ type: 'Guarded', status: 'False', reason, message: 'm', lastTransitionTime: later(0) }],
  },
});

/** A job that answers the provider of its machine. */
function answering(answer: Partial<JobStepAnswer>): JobFields {
  const recorded = { event: 'local-e-1', answer: 'StartNow', intendedAt: later(0), ...answer } as const;
  return {
    spec: { plan: [jobStep('s1', 'AnswerProvider', { with: { answer: 'StartNow' } })] },
    status: { steps: records('s1 Running', { answer: recorded }) },
  };
}

describe('abortOf', () => {
  it.each<[name: string, answer: Partial<JobStepAnswer>, expected: string | undefined]>([
    ['stops before an answer is sent', {}, 'RuleRefuted'],
    ['goes on when it was accepted', { acceptedAt: later(0) }, undefined],
    ['goes on when it was lost', { lostAt: later(0) }, undefined],
    ['goes on when another process may have sent it', { intendedAt: later(-30) }, undefined],
  ])('R33 %s as the fault cleared', (_, answer, expected) => {
    const job = repairJob(answering(answer));
    expect(abortOf(observation({ job, rule: 'NoMatch' }))?.reason).toBe(expected);
  });

  it.each<[name: string, job: JobFields, fields: Partial<JobInput>, expected: string | undefined]>([
    ['nothing', { status: { steps } }, {}, undefined],
    [
      'a replaced Node before everything else',
      { spec: { cancel, deadline: later(0) } },
      { node: undefined },
      'NodeReplaced',
    ],
    ['the deadline before a cancellation', { spec: { cancel, deadline: later(0) } }, {}, 'DeadlineExceeded'],
    [
      'a cancellation before the rule',
      { spec: { cancel }, status: { steps } },
      { rule: 'NoMatch' },
      'Cancelled',
    ],
    ['the rule', { status: { steps } }, { rule: 'NoMatch' }, 'RuleRefuted'],
    [
      'nothing at a step that disturbs nothing',
      { status: { steps: records('s1 Intended') } },
      { rule: 'NoMatch' },
      undefined,
    ],
    ['nothing once its plan is done', { spec: { plan: [] } }, { rule: 'NoMatch' }, undefined],
  ])('finds %s', (_, job, fields, expected) => {
    expect(abortOf(observation({ job: repairJob(job), ...fields }))?.reason).toBe(expected);
  });

  it.each<[name: string, reboot: Partial<JobStepStatus>, agent: string, expected: string | undefined]>([
    ['goes on when the agent has begun the reboot', { state: 'Intended' }, 'Running', undefined],
    ['goes on when the agent had ended the reboot', { state: 'Intended' }, 'Succeeded', undefined],
    ['goes on after a reboot that ended later', { state: 'Succeeded', finishedAt: later(3) }, '', undefined],
    ['stops without an answer', { state: 'Intended' }, '', 'RuleRefuted'],
    ['stops when the agent refused', { state: 'Intended' }, 'Refused', 'RuleRefuted'],
    ['stops when the reboot failed', { state: 'Failed', finishedAt: later(3) }, '', 'RuleRefuted'],
    [
      'stops when the reboot had ended before',
      { state: 'Succeeded', finishedAt: later(-3) },
      '',
      'RuleRefuted',
    ],
  ])('R33 %s as the fault cleared', (_, reboot, agent, expected) => {
    const [record] = records('s4 Intended');
    const job = repairJob({
      ...guarded('RuleRefuted'),
      status: {
        ...guarded('RuleRefuted').status,
        steps: [
          ...records('s1 Succeeded, s2 Succeeded, s3 Succeeded'),
          { ...record, ...reboot } as JobStepStatus,
        ],
        ...(agent !== '' && {
          agent: agentAnswer('s4', agent as AgentStep['state'], { startedAt: later(-1) }),
        }),
      },
    });
    expect(abortOf(observation({ job, rule: 'NoMatch' }))?.reason).toBe(expected);
  });

  it('does not take a denial that passes for the end of the job', () => {
    expect(abortOf(observation({ job: repairJob(guarded('KillSwitch')) }))).toBeUndefined();
    expect(abortOf(observation({ job: repairJob(guarded('GrantLost')) }))?.reason).toBe('GrantLost');
  });
});

describe('planAbort', () => {
  it('ends a step of the controller at once', () => {
    const found = observation({ job: repairJob({ status: { steps } }), node: jobNode(CORDONED) });
    expect(explained(planAbort(found, { reason: 'RuleRefuted', message: 'ended' }))).toBe(
      'Write s2=Failed RuleRefuted Cancelled/RuleRefuted withdraw: ended',
    );
  });

  it('R31 does not know the end of a step whose provider has an answer', () => {
    const found = observation({ job: repairJob(answering({ acceptedAt: later(0) })) });
    expect(explained(planAbort(found, { reason: 'DeadlineExceeded', message: 'too late' }))).toBe(
      'Write s1=Ambiguous DeadlineExceeded Ambiguous/DeadlineExceeded withdraw: too late',
    );
  });
});
