import { describe, expect, it } from 'vitest';
import {
  isSwitchedOn,
  lastPower,
  mayGoOff,
  powerStep,
} from '../../../../src/controllers/remedyjob/power/power-records.ts';
import { jobStep, later, records, repairJob } from '../jobs.ts';

const at = later(0);
const off = { way: 'BMC', desired: 'Off', intendedAt: at } as const;

describe('powerStep', () => {
  it.each([
    [
      'PowerCycle by both ways',
      jobStep('s1', 'PowerCycle'),
      { goal: 'Cycle', ways: ['Provider', 'BMC'], confirm: true },
    ],
    [
      'PowerOn by one',
      jobStep('s1', 'PowerOn', { with: { via: ['BMC'] } }),
      { goal: 'On', ways: ['BMC'], confirm: true },
    ],
    [
      'the switches of a Reboot',
      jobStep('s1', 'Reboot', { with: { via: ['Agent', 'BMC'] } }),
      { goal: 'Cycle', ways: ['BMC'], confirm: true },
    ],
    ['nothing of a Reboot by the agent', jobStep('s1', 'Reboot'), undefined],
    ['nothing of a bad input', jobStep('s1', 'PowerOff', { with: { via: ['Ssh'] } }), undefined],
    ['nothing of another step', jobStep('s1', 'Drain'), undefined],
  ])('returns %s', (_, step, expected) => {
    expect(powerStep(step)).toEqual(expected);
  });
});

describe('lastPower', () => {
  const plan = [jobStep('s1', 'PowerOff'), jobStep('s2', 'PowerOn')];

  it('is that of the last step which read or requested a state', () => {
    const before = records('s1 Succeeded', { power: { ...off, offAt: at } });
    const chosen = records('s2 Running', { power: { way: 'BMC', desired: 'Off', notBefore: at } });
    const status = { steps: [...before, ...chosen] };
    expect(lastPower(repairJob({ spec: { plan }, status }))?.step.id).toBe('s1');
  });

  it('is none before any step', () => {
    expect(lastPower(repairJob({ spec: { plan } }))).toBeUndefined();
  });
});

it.each([
  ['Off that is not read back', off, true, false],
  ['Off that was read back', { ...off, offAt: at }, false, false],
  ['what was never requested', { way: 'BMC', desired: 'Off' } as const, false, false],
  ['On', { ...off, desired: 'On' } as const, false, true],
])('R33 knows whether a machine may still go off, or was switched on: %s', (_, power, goesOff, isOn) => {
  const [record] = records('s1 Running', { power });
  expect([
    mayGoOff(record ?? { id: '', state: 'Running' }),
    isSwitchedOn(record ?? { id: '', state: 'Running' }),
  ]).toEqual([goesOff, isOn]);
});
