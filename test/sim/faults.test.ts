/** Rows of the fault library of remedy.md that the Defender answers for: each happens at a known time, in a fleet that is in order. */
import { describe, expect, it } from 'vitest';
import type { Scenario } from '../../src/sim/scenario.ts';
import { type SimulationResult, simulate } from '../../src/sim/simulate.ts';

const START_MS = Date.parse('2030-01-01T00:00:00Z');
const IS_LONG = process.env['KUBENODE_LONG'] !== undefined;
const SEEDS = Array.from({ length: IS_LONG ? 50 : 2 }, (_, index) => index + 1);

interface Given {
  readonly seed: number;
  readonly hours: number;
  readonly machines: number;
}

async function play({ seed, hours, machines }: Given, scenario: Scenario): Promise<SimulationResult> {
  const result = await simulate({ seed, days: hours / 24, machines, scenario });
  expect(result.violations).toEqual([]);
  return result;
}

/** Machines of acts that began in these minutes. */
function acting({ journal }: SimulationResult, from: number, until = Number.POSITIVE_INFINITY): string[] {
  const minutes = journal.map(({ atMs, ...act }) => ({ ...act, minute: (atMs - START_MS) / 60_000 }));
  return minutes.filter(({ minute }) => minute >= from && minute < until).map(({ machine }) => machine);
}

/** Machines `m-0`, `m-3`, `m-6` and so on are in zone a. */
function isInZoneA(name: string): boolean {
  return Number(name.slice(2)) % 3 === 0;
}

describe('the fault library', () => {
  it.each(SEEDS)(
    'F5 a zone that is dark for two hours is not touched, others are, and it needs no repair when it returns (seed %i)',
    async (seed) => {
      const dark = { hazard: 'zoneDark', fromMinute: 60, minutes: 120 } as const;
      const others = ['m-100', 'm-101', 'm-202'];
      const failures = others.map((machine) => ({ machine, minute: 90 }));
      const result = await play({ seed, hours: 5, machines: 999 }, { hazards: [dark], failures });
      expect(result.denials['ZoneDark']).toBeGreaterThan(1000);
      expect(acting(result, 0).filter(isInZoneA)).toEqual([]);
      expect(acting(result, 90, 180)).toEqual(expect.arrayContaining(others));
      expect(result.journal.filter(({ action }) => action === 'ReplaceMachine')).toEqual([]);
      expect(result.notReady.filter(isInZoneA)).toEqual([]);
    },
  );

  it.each(SEEDS)(
    'F5 a quarter of the fleet that is silent is our view, and not an illness of machines (seed %i)',
    async (seed) => {
      const cut = { hazard: 'massUnknown', fromMinute: 60, minutes: 120 } as const;
      const result = await play({ seed, hours: 4, machines: 400 }, { hazards: [cut] });
      expect(result.denials['MassUnknown']).toBeGreaterThan(1000);
      expect(result.journal).toEqual([]);
    },
  );

  it.each([
    ['cut from the API for ten minutes', 'viewCut', 4],
    ['with a clock that jumped', 'clockWrong', 1],
    ['whose requests fail', 'apiErrors', 1],
  ] as const)(
    'R20 a controller %s begins no step, although 30 machines wait for their repair',
    async (_, hazard, blindMinutes) => {
      const hazards = [{ hazard, fromMinute: 90, minutes: 10 }];
      const failures = Array.from({ length: 30 }, (_each, n) => ({ machine: `m-${100 + n}`, minute: 60 }));
      const result = await play({ seed: 1, hours: 4, machines: 400 }, { hazards, failures });
      expect(acting(result, 60, 90).length).toBeGreaterThan(0);
      expect(acting(result, 90 + blindMinutes, 100)).toEqual([]);
      expect(acting(result, 100).length).toBeGreaterThan(0);
    },
  );

  it.each(SEEDS)(
    'F6 nothing that was denied for a day is done when the stop ends and all is well again (seed %i)',
    async (seed) => {
      const stop = { hazard: 'stopped', fromMinute: 30, minutes: 1440 } as const;
      const dark = { hazard: 'zoneDark', fromMinute: 60, minutes: 600 } as const;
      const result = await play({ seed, hours: 27, machines: 300 }, { hazards: [stop, dark] });
      expect(result.denials['KillSwitch']).toBeGreaterThan(10_000);
      expect(result.journal).toEqual([]);
    },
  );

  it.each(SEEDS)(
    'F14 a pool of two is repaired, together when both fail, and a rollout never takes its last machine (seed %i)',
    async (seed) => {
      const failures = [
        { machine: 'm-59', minute: 60 },
        { machine: 'm-58', minute: 300 },
        { machine: 'm-59', minute: 300 },
      ];
      const result = await play({ seed, hours: 12, machines: 60 }, { failures, rollouts: true });
      expect(acting(result, 60, 120)).toContain('m-59');
      expect(acting(result, 300, 600)).toEqual(expect.arrayContaining(['m-58', 'm-59']));
      expect(result.denials['LastReadyOfPool']).toBeGreaterThan(0);
      expect(result.notReady.length).toBeLessThan(4);
    },
  );
});
