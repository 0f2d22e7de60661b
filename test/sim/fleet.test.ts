import { describe, expect, it } from 'vitest';
import { befall, createFleet, factsOf, hazardAgeMs, isOn } from '../../src/sim/fleet.ts';
import { createRandom } from '../../src/sim/random.ts';

const START_MS = Date.parse('2030-01-01T00:00:00Z');
const STEP_MS = 60_000;

describe('the simulated fleet', () => {
  it('meets every hazard and every fault in some weeks, and returns each machine that changed', () => {
    const fleet = createFleet(60, START_MS);
    const random = createRandom(1);
    const hazards = new Set<string>();
    let changes = 0;
    for (let step = 0; step < 20_000; step += 1) {
      fleet.nowMs += STEP_MS;
      changes += befall(fleet, random, STEP_MS).size;
      for (const hazard of fleet.hazards.keys()) hazards.add(hazard);
    }
    expect(hazards.size).toBe(11);
    expect(changes).toBeGreaterThan(100);
    expect(fleet.machines.some(({ isReady }) => !isReady)).toBe(true);
  });

  it('knows how long a hazard holds, and shows a silent machine as Unknown', () => {
    const fleet = createFleet(3, START_MS);
    fleet.hazards.set('stopped', { sinceMs: START_MS - 5000, untilMs: START_MS + 1 });
    expect([hazardAgeMs(fleet, 'stopped'), isOn(fleet, 'frozen'), hazardAgeMs(fleet, 'frozen')]).toEqual([
      5000,
      false,
      0,
    ]);
    fleet.nowMs += 1;
    expect([isOn(fleet, 'stopped'), hazardAgeMs(fleet, 'stopped')]).toEqual([false, 0]);
    const [machine] = fleet.machines;
    const facts = machine && factsOf({ ...machine, isSilent: true, silentSinceMs: START_MS, isHeld: true });
    expect(facts).toMatchObject({
      readiness: 'Unknown',
      unknownSince: new Date(START_MS),
      holds: [{ scope: 'All' }],
    });
  });
});
