import { describe, expect, it } from 'vitest';
import { GUARDS } from '../../../src/defender/guards/guards.ts';
import { simulateFleetLimits } from '../../../src/sim/fleet/simulate-fleet-limits.ts';
import { LONG } from '../../support/sweep-size.ts';

const SEEDS = LONG ? Array.from({ length: 200 }, (_, index) => index + 1) : [1, 2];
const SIZE = { clusters: 20, hours: 24 };

describe('simulateFleetLimits', () => {
  it.each(SEEDS)(
    'keeps the limits over 20 clusters, and no cluster below its floor, with seed %i',
    async (seed) => {
      const { acts, actsUnderFloor, violations } = await simulateFleetLimits({ seed, ...SIZE });
      expect(violations).toEqual([]);
      expect(acts).toBeGreaterThan(100);
      expect(actsUnderFloor).toBeGreaterThan(0);
    },
  );

  it.each(GUARDS.filter(({ proof }) => proof.isFleet))(
    'breaks its promise without the guard $id: $proof.promise',
    async ({ id, proof: { seed, promise } }) => {
      const { violations } = await simulateFleetLimits({ seed, ...SIZE, without: new Set([id]) });
      expect(violations.map(({ what }) => what)).toContain(promise);
    },
  );

  it('repeats a run from its seed', async () => {
    const options = { seed: 5, clusters: 6, hours: 3 };
    expect(await simulateFleetLimits(options)).toEqual(await simulateFleetLimits(options));
  });
});
