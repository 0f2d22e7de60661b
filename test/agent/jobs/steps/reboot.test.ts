import { expect, it } from 'vitest';
import type { HostNode } from '../../../../src/agent/host/port.ts';
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

it.each([
  ['leaves a reboot by the power switch to the job controller', ['Provider', 'BMC'] as const],
  ['does not force a reboot where the host has no kernel of its own', ['SysRq', 'BMC'] as const],
])('%s', async (_, via) => {
  const context = await stepContext(await createJobHost());
  expect(await rebootStep.problem(context, { via })).toMatchObject({ code: 'NotAllowed' });
});

it.each([
  [
    'AGT-51 arranges the forced reboot before it asks for the shutdown',
    ['Agent', 'SysRq'] as const,
    ['force after 25 s', 'reboot'],
  ],
  [
    'AGT-51 forces the reboot at once where that is the only way',
    ['SysRq', 'BMC'] as const,
    ['force after 0 s'],
  ],
  ['AGT-51 forces nothing that was not asked for', ['Agent'] as const, ['reboot']],
])('%s', async (_, via, expected) => {
  const jobs = await createJobHost();
  const { acts, node } = hangingNode(jobs.host.node);
  const context = await stepContext({ ...jobs, host: { ...jobs.host, node } });
  const before = await rebootStep.before?.(context, { via });
  expect(await rebootStep.problem(context, { via })).toBeUndefined();
  await rebootStep.execute?.(context, { via }, stepRun({ before, timeoutMs: 100_000 }));
  expect(acts).toEqual(expected);
});

/** A shutdown is refused or hangs; afterwards the host has another boot. */
function hangingNode(node: HostNode): { readonly acts: string[]; readonly node: HostNode } {
  const acts: string[] = [];
  return {
    acts,
    node: {
      ...node,
      bootId: async () => (acts.length === 0 ? 'boot-1' : 'boot-2'),
      reboot: async () => {
        acts.push('reboot');
        throw new Error('refused');
      },
      forceReboot: async (afterMs) => void acts.push(`force after ${afterMs / 1000} s`),
    },
  };
}
