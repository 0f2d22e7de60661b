import { describe, expect, it } from 'vitest';
import type { JobStepPower } from '../../../../src/api/generated/types.ts';
import type { Step } from '../../../../src/api/steps/steps.ts';
import {
  isRestoreOverdue,
  planRestore,
  powerToRestore,
} from '../../../../src/controllers/remedyjob/power/restore.ts';
import type { PowerState } from '../../../../src/providers/power.ts';
import { condition, NOW } from '../../../support/builders.ts';
import { jobMachine, jobStep, later, observation, records, repairJob } from '../jobs.ts';

const at = later(0);
const OFF = { way: 'BMC', desired: 'Off', intendedAt: at, offAt: at } as const;
const ON = { way: 'BMC', desired: 'On', intendedAt: at, offAt: at } as const;

describe('powerToRestore', () => {
  it.each<[name: string, plan: readonly Step[], power: JobStepPower, isUndone: boolean, expected: boolean]>([
    ['a cycle that is half done', ['PowerCycle'], ON, false, true],
    [
      'a cycle whose Off may still come',
      ['PowerCycle'],
      { way: 'BMC', desired: 'Off', intendedAt: at },
      false,
      true,
    ],
    ['not a cycle that is done', ['PowerCycle'], { ...ON, onAt: at }, false, false],
    [
      'not a cycle that requested nothing',
      ['PowerCycle'],
      { way: 'BMC', desired: 'Off', notBefore: at },
      false,
      false,
    ],
    ['a PowerOff that is taken back', ['PowerOff'], OFF, true, true],
    ['not a PowerOff that is kept for a person', ['PowerOff', 'HandOff'], OFF, false, false],
    ['a PowerOff whose plan switches on later', ['PowerOff', 'PowerOn'], OFF, false, true],
    ['not what was off before', ['PowerOff'], { way: 'BMC', desired: 'Off', offAt: at }, true, false],
    ['not what was given up', ['PowerCycle'], { ...ON, givenUpAt: at }, false, false],
  ])('R34 switches the machine on again: %s', (...[, steps, power, isUndone, expected]) => {
    const plan = steps.map((step, index) => jobStep(`s${index + 1}`, step));
    const job = repairJob({ spec: { plan }, status: { steps: records('s1 Failed', { power }) } });
    expect(powerToRestore(observation({ job }), isUndone) !== undefined).toBe(expected);
  });

  it('leaves the machine of another Machine alone', () => {
    const plan = [jobStep('s1', 'PowerCycle')];
    const job = repairJob({ spec: { plan }, status: { steps: records('s1 Failed', { power: ON }) } });
    const machine = { ...jobMachine(), metadata: { name: 'm', uid: 'uid-other' } };
    expect(powerToRestore(observation({ job, machine }), true)).toBeUndefined();
  });
});

describe('planRestore', () => {
  const asked = { way: 'BMC', desired: 'Off', intendedAt: at } as const;
  it.each<[name: string, power: JobStepPower, state: PowerState, seconds: number, expected: string]>([
    ['records On for what is off', OFF, 'Off', 0, 'Record On'],
    ['records On for what was off', OFF, 'On', 0, 'Record On'],
    ['waits while Off may still come', asked, 'On', 119, 'Wait'],
    ['is done when it does not come', asked, 'On', 120, 'Done Off'],
    ['waits for a switch that is unsure', asked, 'Unknown', 500, 'Wait'],
    ['requests On', ON, 'Off', 0, 'Request On'],
    ['is done when it reads On', ON, 'On', 0, 'Done On'],
  ])('R34 restores the power step by step: %s', (...[, power, state, seconds, expected]) => {
    const move = planRestore(power, state, new Date(NOW.getTime() + seconds * 1000));
    expect(move.type === 'Wait' ? 'Wait' : `${move.type} ${move.power.desired}`).toBe(expected);
  });
});

it.each([
  [0, false],
  [899, false],
  [900, true],
])('R31 gives up after 15 minutes: %i s is %s', (seconds, expected) => {
  const job = repairJob({ status: { conditions: [condition('Settled', 'False')] } });
  const since = Date.parse(job.status?.conditions[0]?.lastTransitionTime ?? '');
  expect(isRestoreOverdue(observation({ job, now: new Date(since + seconds * 1000) }))).toBe(expected);
});
