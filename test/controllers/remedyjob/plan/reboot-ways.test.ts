import { describe, expect, it } from 'vitest';
import type { AgentStep, JobStep, Machine } from '../../../../src/api/generated/types.ts';
import { planJob } from '../../../../src/controllers/remedyjob/plan/plan.ts';
import { planFallback, planOtherWay } from '../../../../src/controllers/remedyjob/plan/reboot-ways.ts';
import { condition, NOW } from '../../../support/builders.ts';
import {
  agentAnswer,
  explained,
  type JobFields,
  jobMachine,
  jobNode,
  jobStep,
  later,
  observation,
  records,
  repairJob,
} from '../jobs.ts';

const both = jobStep('s1', 'Reboot', { with: { via: ['Agent', 'SysRq', 'BMC'] } });
const alone = jobStep('s1', 'Reboot', { with: { via: ['BMC', 'Provider'] } });
const byAgent = jobStep('s1', 'Reboot', { with: { via: ['Agent', 'SysRq'] } });
const silent = jobMachine({ conditions: [condition('AgentReady', 'Unknown')] });
const alive = jobMachine({ conditions: [condition('AgentReady', 'True')] });
const RELEASE = { step: 's1', try: 1, fence: 7, nodeUID: 'node-1', bootID: 'boot-1', notAfter: later(55) };

interface Given {
  readonly step?: JobStep;
  readonly machine?: Machine;
  readonly isOpen?: boolean;
  readonly isReleased?: boolean;
  readonly answer?: (Partial<AgentStep> & Pick<AgentStep, 'state'>) | undefined;
  readonly seconds?: number;
}

const USUAL = { step: both, machine: alive, isOpen: true, isReleased: true, answer: undefined, seconds: 0 };

function plannedWay(given: Given): string {
  const { step, machine, seconds, ...known } = { ...USUAL, ...given };
  const { steps = [], ...status } = statusOf(known);
  const job = repairJob({ spec: { plan: [step] }, status: { steps, ...status } });
  const now = new Date(NOW.getTime() + seconds * 1000);
  const decision = planOtherWay(observation({ job, machine, now }), step, steps[0]);
  if (decision?.type !== 'Write') return 'the agent';
  const { way, notBefore = '' } = decision.change.step?.power ?? {};
  return `${way} from ${(Date.parse(notBefore) - NOW.getTime()) / 1000} s: ${decision.because}`;
}

function statusOf({
  isOpen,
  isReleased,
  answer,
}: Pick<Given, 'isOpen' | 'isReleased' | 'answer'>): NonNullable<JobFields['status']> {
  return {
    steps: isOpen ? records('s1 Intended') : [],
    ...(answer ? { agent: agentAnswer('s1', answer.state, answer) } : {}),
    ...(isReleased ? { release: RELEASE } : {}),
  };
}

describe('planOtherWay', () => {
  it.each<[name: string, given: Given, expected: string]>([
    ['asks an agent that answers', {}, 'the agent'],
    [
      'lets the release of a silent agent end first',
      { machine: silent },
      'BMC from 85 s: Reboot@v1: the agent is silent',
    ],
    [
      'waits for a release that was withdrawn before',
      { machine: silent, isReleased: false },
      'BMC from 90 s: Reboot@v1: the agent is silent',
    ],
    [
      'releases nothing to a silent agent',
      { machine: silent, isOpen: false },
      'BMC from 0 s: Reboot@v1: the agent is silent',
    ],
    [
      'takes the switch where it is the only way',
      { step: alone, isOpen: false },
      'BMC from 0 s: Reboot@v1: the agent is not among the ways',
    ],
    ['has no other way than the agent', { step: byAgent, machine: silent }, 'the agent'],
    [
      'goes on after a failure',
      { answer: { state: 'Failed', code: 'RebootRefused' } },
      'BMC from 0 s: Reboot@v1: the agent reports RebootRefused',
    ],
    [
      'goes on after an end that is not known',
      { answer: { state: 'Ambiguous' } },
      'BMC from 0 s: Reboot@v1: the agent reports Ambiguous',
    ],
    [
      'ends at a refusal: the host is alive',
      { answer: { state: 'Refused', code: 'WrongBoot' } },
      'the agent',
    ],
    [
      'waits for a reboot that was begun',
      { answer: { state: 'Running', startedAt: later(0) }, seconds: 149, machine: silent },
      'the agent',
    ],
    [
      'goes on when it has taken half of the time',
      { answer: { state: 'Running', startedAt: later(0) }, seconds: 150, machine: silent },
      'BMC from 150 s: Reboot@v1: no new boot 150 s after the agent began',
    ],
    ['waits for an agent that waits', { answer: { state: 'Running' }, machine: silent }, 'the agent'],
  ])('R31 R33 tries the ways in their order: %s', (_, given, expected) => {
    expect(plannedWay(given)).toBe(expected);
  });
});

describe('a Reboot that goes on by the switch', () => {
  const power = { way: 'BMC', desired: 'Off', notBefore: later(85) } as const;
  const steps = records('s1 Running', { power, bootIDBefore: 'boot-1' });
  const job = repairJob({
    spec: { plan: [both] },
    status: { steps, agent: agentAnswer('s1', 'Failed', {}) },
  });

  it.each([
    [84, 'Wait (Power): Reboot@v1: a release of the agent ends 2030-01-01T12:01:25.000Z'],
    [85, 'undefined'],
  ])('R33 leaves the switch alone until the release has ended: %i s', (seconds, expected) => {
    const now = new Date(NOW.getTime() + seconds * 1000);
    const [record] = steps;
    expect(explained(record && planFallback(observation({ job, now }), both, record))).toBe(expected);
  });

  it('R31 is not ended by what the agent still reports', () => {
    const now = new Date(NOW.getTime() + 90_000);
    expect(explained(planJob(observation({ job, now })))).toBe('RunStep s1 try 1: Reboot@v1');
  });

  it('R37 ends at another boot', () => {
    const node = jobNode({ bootID: 'boot-2' });
    expect(explained(planJob(observation({ job, node })))).toBe('Write s1=Succeeded withdraw: s1: Succeeded');
  });
});
