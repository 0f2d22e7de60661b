import { describe, expect, it } from 'vitest';
import type { JobStep, Machine } from '../../../src/api/generated/types.ts';
import { noticesOf, resolutionsOf } from '../../../src/controllers/notifier/observe.ts';
import type { Condition } from '../../../src/kube/objects/conditions.ts';
import { ago, machine } from '../../support/builders.ts';
import { remedier } from '../../support/remediers.ts';
import { NOW } from '../../support/virtual-clock.ts';
import { jobStep } from '../remedyjob/jobs.ts';
import { HAND_OFF, handedOffJob, notice, tellingJob } from './jobs.ts';

const rule = remedier({ '/owner': { team: 'storage', runbook: 'https://runbooks.example.com/kernel' } });

function announced(step: JobStep, begun: number | undefined = 60): unknown[] {
  return noticesOf(tellingJob([[step, begun]]), rule).map(({ step: name, severity, queue, summary }) => [
    name,
    severity,
    queue,
    summary,
  ]);
}

function input(step: 'HandOff' | 'Notify', given: object): JobStep {
  return jobStep('s1', step, { with: { ...given } });
}

describe('the notices of a job', () => {
  it('have all that a person needs to begin', () => {
    const expected = notice({ queue: 'storage', runbook: 'https://runbooks.example.com/kernel' });
    expect(noticesOf(tellingJob([[HAND_OFF, 60]]), rule)).toEqual([expected]);
  });

  it.each([
    [
      'a ticket by default',
      input('HandOff', {}),
      ['HandOff', 'ticket', 'storage', 'n17: Kernel fault of rule kernel-hang, needs a person'],
    ],
    [
      'a queue of its own and a case with the vendor',
      input('HandOff', { queue: 'dc-hands', vendorCase: true }),
      [
        'HandOff',
        'ticket',
        'dc-hands',
        'n17: Kernel fault of rule kernel-hang, needs a person, and a case with the hardware vendor',
      ],
    ],
    [
      'a signal for the owner',
      input('Notify', { signal: 'reboot-soon', message: 'in ten minutes' }),
      ['Notify', 'info', 'storage', 'n17: Kernel fault of rule kernel-hang, reboot-soon: in ten minutes'],
    ],
  ])('have %s', (_, step, expected) => {
    expect(announced(step)).toEqual([expected]);
  });

  it.each([
    ['a step that has not begun', HAND_OFF, undefined],
    ['a signal for workloads', input('Notify', { signal: 'checkpoint-now', to: 'Workloads' }), 60],
    ['an input that the job controller refuses', input('HandOff', { severity: 'shout' }), 60],
    ['another step', jobStep('s1', 'Cordon'), 60],
  ])('are none for %s', (_, step, begun) => {
    expect(noticesOf(tellingJob([[step, begun]]), rule)).toEqual([]);
  });

  it('have no known queue and no runbook when the rule is not found', () => {
    const [found] = noticesOf(tellingJob([[HAND_OFF, 60]]), undefined);
    expect(found).toMatchObject({ queue: 'unknown' });
    expect(found).not.toHaveProperty('runbook');
  });
});

const JOB = handedOffJob(600);
const OPENED = noticesOf(JOB, rule);

function needsPerson(status: Condition['status'], since: number): Condition {
  const lastTransitionTime = ago(since);
  return {
    type: 'NeedsPerson',
    status,
    reason: 'CaseClosed',
    message: 'job j: all is well',
    lastTransitionTime,
  };
}

function n17(conditions: readonly Condition[], uid = 'uid-n17'): Machine {
  return machine('n17', { metadata: { uid }, status: { conditions } });
}

describe('the ends of what a job handed to people', () => {
  it('are notices of the same incident, with when and why', () => {
    expect(resolutionsOf(OPENED, JOB, n17([needsPerson('False', 30)]), NOW)).toEqual([
      {
        ...OPENED[0],
        event: 'Resolved',
        id: 'job-uid-1/s1/resolved',
        at: ago(30),
        summary: 'n17: Kernel fault of rule kernel-hang, needs no person any more: job j: all is well',
      },
    ]);
  });

  it.each([
    ['a Machine that was deleted', undefined],
    ['another Machine of its name', n17([needsPerson('True', 30)], 'uid-new')],
  ])('come with %s', (_, found) => {
    const [over] = resolutionsOf(OPENED, JOB, found, NOW);
    expect(over).toMatchObject({ at: NOW.toISOString() });
    expect(over?.summary).toMatch(/needs no person any more: the Machine was deleted$/);
  });

  it.each([
    ['the machine needs a person', JOB, OPENED, n17([needsPerson('True', 30)])],
    ['what is known is about a former case', JOB, OPENED, n17([needsPerson('False', 700)])],
    ['nothing is reported about the machine', JOB, OPENED, n17([])],
    [
      'the job gives back what it holds',
      { ...JOB, status: { conditions: [], ...JOB.status, timeline: {} } },
      OPENED,
      n17([needsPerson('False', 30)]),
    ],
    ['the job is in work', tellingJob([[HAND_OFF, 600]]), OPENED, n17([needsPerson('False', 30)])],
    ['it was only a signal', JOB, [notice({ step: 'Notify' })], n17([needsPerson('False', 30)])],
  ])('are none while %s', (_, job, opened, found) => {
    expect(resolutionsOf(opened, job, found, NOW)).toEqual([]);
  });
});
