import { expect, it } from 'vitest';
import { rebootStep } from '../../../../src/agent/jobs/steps/reboot.ts';
import { createJobHost } from '../../../support/agent/job-host.ts';
import { stepContext, stepRun } from '../../../support/agent/step-context.ts';

it('AGT-51 requests no second reboot when the machine booted after the step was recorded', async () => {
  const jobs = await createJobHost();
  const context = await stepContext(jobs);
  const before = await rebootStep.before?.(context, { via: ['Agent'] });
  await jobs.host.node.reboot();
  expect(await rebootStep.execute?.(context, { via: ['Agent'] }, stepRun({ before }))).toMatchObject({
    state: 'Succeeded',
  });
  expect(jobs.host.reboots()).toBe(1);
});

it('leaves a reboot by other ways to the job controller', async () => {
  const context = await stepContext(await createJobHost());
  expect(await rebootStep.problem(context, { via: ['SysRq', 'BMC'] })).toMatchObject({ code: 'NotAllowed' });
});
