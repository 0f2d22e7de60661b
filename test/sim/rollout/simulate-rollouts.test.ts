import { beforeAll, describe, expect, it } from 'vitest';
import type { RolloutEvent } from '../../../src/sim/rollout/history.ts';
import { judgeHistory } from '../../../src/sim/rollout/judge/judge.ts';
import {
  type RolloutSimulationResult,
  simulateRollouts,
} from '../../../src/sim/rollout/simulate-rollouts.ts';
import { LONG, slice } from '../../support/sweep-size.ts';
import { RECORDED_ROLLOUTS } from '../recorded-seeds.ts';

const SIZE = { hours: LONG ? 2 : 1, machines: 8 };
/** The first one is read again below. */
const SEEDS = Array.from({ length: LONG ? 1000 : 1 }, (_, index) => index + 1);

const RUNS = [...SEEDS.map((seed) => ({ seed, ...SIZE })), ...slice(RECORDED_ROLLOUTS, 1)];

function repeatStart(event: RolloutEvent): RolloutEvent[] {
  return event.what === 'Start' ? [event, event] : [event];
}

describe('simulateRollouts', () => {
  const results = new Map<number, RolloutSimulationResult>();
  beforeAll(async () => {
    // oxlint-disable-next-line no-await-in-loop -- one seed after the other
    for (const run of RUNS) results.set(run.seed, await simulateRollouts(run));
  }, 3_600_000);

  it.each(RUNS)('ROL-10 breaks no promise of a rollout, with seed $seed', ({ seed }) => {
    const { violations, starts } = results.get(seed) ?? { violations: ['not run'], starts: 0 };
    expect(violations).toEqual([]);
    expect(starts).toBeGreaterThan(0);
  });

  it('kills the controllers, and completes rollouts all the same', () => {
    const all = [...results.values()];
    // A recorded run may be too short for one.
    expect(SEEDS.filter((seed) => (results.get(seed)?.kills ?? 0) === 0)).toEqual([]);
    expect(all.some(({ completed }) => completed > 0)).toBe(true);
  });

  it('finds a start without its grant, and a second one, in a history that it recorded', () => {
    const history = results.get(1)?.history ?? [];
    const withoutGrants = judgeHistory(history.filter(({ what }) => what !== 'Grant'));
    expect(withoutGrants.map(({ what }) => what)).toContain('an entry without a grant that is live');
    const twice = judgeHistory(history.flatMap(repeatStart));
    expect(twice.some(({ what }) => what.startsWith('a second start on'))).toBe(true);
  });

  it('repeats a run from its seed', async () => {
    const options = { seed: 7, hours: 0.1, machines: 3 };
    expect(await simulateRollouts(options)).toEqual(await simulateRollouts(options));
  });
});
