import { describe, expect, it } from 'vitest';
import type { JobStep } from '../../../src/api/generated/types.ts';
import { noticesOf } from '../../../src/controllers/notifier/observe.ts';
import { remedier } from '../../support/remediers.ts';
import { jobStep } from '../remedyjob/jobs.ts';
import { HAND_OFF, notice, tellingJob } from './jobs.ts';

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
