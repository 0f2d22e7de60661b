import { describe, expect, it } from 'vitest';
import { EMPTY_LEDGER } from '../../src/defender/ledger/draft.ts';
import { createRun, type SimulationRun } from '../../src/sim/run.ts';
import { allowanceAfterStorm, countVerified, watchStorms } from '../../src/sim/storms.ts';

async function stormIn(state: 'Open' | 'HalfOpen'): Promise<SimulationRun> {
  const run = createRun({ seed: 1, days: 1, machines: 9 });
  const { nowMs } = run.fleet;
  const id = 'fleet-default/storm/a';
  const breakers = { [id]: { state, since: new Date(nowMs).toISOString(), trips: 1 } };
  const store = run.ledger.store();
  // The simulated server loses some writes.
  for (let spec = run.ledger.spec(); spec?.seq !== 1; spec = run.ledger.spec()) {
    // oxlint-disable-next-line no-await-in-loop -- until the write arrives
    await store
      .read()
      .then((found) => store.write(found, { ...EMPTY_LEDGER, seq: 1, breakers }))
      .catch(() => undefined);
  }
  return run;
}

describe('storms', () => {
  it('are counted from the moment when the breaker of the zone is open', async () => {
    const run = await stormIn('Open');
    const [inA, inB] = run.fleet.machines;
    if (!inA || !inB) throw new Error('the fleet has machines in both zones');
    expect(allowanceAfterStorm(run, inA)).toBe(Number.POSITIVE_INFINITY);
    watchStorms(run);
    const allowed = [false, true, false, false].map((hasFailed) => {
      countVerified(run, inA, hasFailed);
      return allowanceAfterStorm(run, inA);
    });
    expect(allowed).toEqual([1, 1, 2, 4]);
    expect(allowanceAfterStorm(run, inB)).toBe(Number.POSITIVE_INFINITY);
  });

  it('are forgotten after a day, with the ledger, and do not begin with a breaker that is half open', async () => {
    const halfOpen = await stormIn('HalfOpen');
    watchStorms(halfOpen);
    expect(halfOpen.storms.size).toBe(0);
    for (const change of ['day', 'lost']) {
      const { fleet } = halfOpen;
      halfOpen.storms.set('a', { sinceMs: fleet.nowMs, verified: 0 });
      if (change === 'day') fleet.nowMs += 86_400_000;
      else halfOpen.lostMs = fleet.nowMs;
      watchStorms(halfOpen);
      expect(halfOpen.storms.size).toBe(0);
    }
  });
});
