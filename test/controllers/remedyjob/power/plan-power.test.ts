import { describe, expect, it } from 'vitest';
import type { JobStepPower } from '../../../../src/api/generated/types.ts';
import {
  type PowerInput,
  type PowerMove,
  planPower,
} from '../../../../src/controllers/remedyjob/power/plan-power.ts';
import { NOW } from '../../../support/builders.ts';
import { later } from '../jobs.ts';

const at = later(0);
const off = { way: 'BMC', desired: 'Off', intendedAt: at } as const;
const on = { way: 'BMC', desired: 'On', intendedAt: at, offAt: at } as const;

function input(fields: Partial<PowerInput>): PowerInput {
  return {
    goal: 'Cycle',
    confirm: true,
    way: 'BMC',
    power: undefined,
    state: 'On',
    booted: undefined,
    now: NOW,
    ...fields,
  };
}

function explained(move: PowerMove): string {
  if (move.type === 'Wait') return `Wait ${move.for}: ${move.because}`;
  const { way, desired, intendedAt, acceptedAt, offAt, onAt } = move.power;
  const times = { intended: intendedAt, accepted: acceptedAt, off: offAt, on: onAt };
  const known = Object.entries(times).flatMap(([name, time]) => (time === undefined ? [] : [name]));
  return `${move.type} ${way} ${desired} [${known.join()}]: ${move.because}`;
}

describe('planPower', () => {
  it.each<[name: string, fields: Partial<PowerInput>, expected: string]>([
    [
      'records Off before it is requested',
      {},
      'Record BMC Off [intended]: Off is requested next: BMC reads On',
    ],
    [
      'records only On for what is off',
      { state: 'Off' },
      'Record BMC On [intended,off]: BMC reads Off: it was off before',
    ],
    [
      'waits for a switch that is changing',
      { state: 'Changing' },
      'Wait Power: BMC reads Changing: neither On nor Off',
    ],
    [
      'requests nothing of a switch that reads Unknown',
      { state: 'Unknown' },
      'Wait Power: BMC reads Unknown: neither On nor Off',
    ],
    ['requests what is recorded', { power: off }, 'Request BMC Off [intended]: BMC reads On'],
    [
      'requests nothing again that was accepted',
      { power: { ...off, acceptedAt: at } },
      `Wait Power: BMC has accepted Off at ${at}, and reads On`,
    ],
    [
      'reads the state before it repeats a request',
      { power: off, state: 'Unknown' },
      'Wait Power: BMC reads Unknown: neither On nor Off',
    ],
    [
      'records On when Off was read back',
      { power: { ...off, acceptedAt: at }, state: 'Off' },
      'Record BMC On [intended,off]: On is requested next: BMC reads Off',
    ],
    [
      'requests On of what is off',
      { power: on, state: 'Off' },
      'Request BMC On [intended,off]: BMC reads Off',
    ],
    [
      'waits for On that was accepted',
      { power: { ...on, acceptedAt: at }, state: 'Off' },
      `Wait Power: BMC has accepted On at ${at}, and reads Off`,
    ],
    [
      'requests On again after a while',
      { power: { ...on, acceptedAt: later(-30) }, state: 'Off' },
      'Request BMC On [intended,accepted,off]: BMC reads Off',
    ],
    [
      'never requests Off again after On',
      { power: { ...on, acceptedAt: at }, state: 'On' },
      'Record BMC On [intended,accepted,off,on]: BMC reads On',
    ],
    [
      'waits for the boot',
      { power: { ...on, onAt: at } },
      'Wait Boot: it is on, and the Node has no new boot',
    ],
    [
      'ends at another boot, whatever the switch reads',
      { power: on, state: 'Unknown', booted: 'boot-2' },
      'Done BMC On [intended,off,on]: BMC reads Unknown',
    ],
    [
      'takes no boot for its own before On',
      { power: off, booted: 'boot-2' },
      'Request BMC Off [intended]: BMC reads On',
    ],
    [
      'waits for no boot without confirm',
      { power: on, confirm: false },
      'Done BMC On [intended,off,on]: BMC reads On',
    ],
    [
      'switches off',
      { goal: 'Off', power: { ...off, acceptedAt: at }, state: 'Off' },
      'Done BMC Off [intended,accepted,off]: BMC reads Off',
    ],
    [
      'reads nothing back without confirm',
      { goal: 'Off', power: { ...off, acceptedAt: at }, confirm: false },
      'Done BMC Off [intended,accepted]: BMC reads On',
    ],
    [
      'has not switched off what was off before',
      { goal: 'Off', state: 'Off' },
      'Done BMC Off [off]: BMC reads Off: it was off before',
    ],
    [
      'switches on',
      { goal: 'On', state: 'Off' },
      'Record BMC On [intended]: On is requested next: BMC reads Off',
    ],
    ['is done when it is on', { goal: 'On' }, 'Done BMC On [on]: BMC reads On'],
  ])('R31 switches power by what is read: %s', (_, fields, expected) => {
    expect(explained(planPower(input(fields)))).toBe(expected);
  });

  it('keeps the time before which the agent may still begin', () => {
    const power: JobStepPower = { way: 'Provider', desired: 'Off', notBefore: at };
    expect(planPower(input({ power }))).toMatchObject({ power: { way: 'BMC', notBefore: at } });
  });
});
