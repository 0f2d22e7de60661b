/** Each guard of the planner of component sets is needed: without it some seed breaks a promise. */
import { describe, expect, it } from 'vitest';
import {
  type RolloutBreakage,
  rolloutViewsWith,
  unheld,
} from '../../../../src/sim/rollout/repairs/guard-breakage.ts';
import { simulateRollouts } from '../../../../src/sim/rollout/simulate-rollouts.ts';
import { machine } from '../../../support/builders.ts';
import { createRuns, findSeed } from '../../../support/seed-search.ts';
import { LONG, slice } from '../../../support/sweep-size.ts';

/** For each guard the promise that some seed breaks without it, the first seed that is tried, and its hours of faults. */
const GUARDS: readonly (readonly [RolloutBreakage, first: number, promise: RegExp, hours: number])[] = [
  ['PauseIgnored', 3, /^a start while the set is paused$/, 1],
  ['SelectorIgnored', 1, /^a start on a machine that the set does not select$/, 1],
  ['AvailabilityIgnored', 1, /^\d+ machines out of service, and \d+ allowed$/, 1],
  ['FailuresIgnored', 13, /^batch \d+ begins, and \d+ machines of batch \d+ failed$/, 2],
  ['ApprovalIgnored', 6, /^batch \d+ begins without an approval$/, 1],
  ['SoakIgnored', 1, /^batch \d+ begins \S+ s after .* was well, and \d+ s are asked for$/, 1],
  ['HoldIgnored', 11, /^a start on a machine that is held$/, 1],
  ['HealthIgnored', 18, /^batch \d+ begins \S+ s after .* was well, and \d+ s are asked for$/, 1],
  ['ReportIgnored', 3, /^the rollout of \w+ does not end: BatchOpen$/, 1],
  ['PartitionIgnored', 1, /^\d+ machines keep the old revision, and \d+ should$/, 1],
  ['SpreadIgnored', 2, /^\d+ machines of rack \w+ in work, and \d+ allowed$/, 1],
  ['GrantIgnored', 1, /^an entry without a grant that is live$/, 1],
];
/** It starts machines without end, for most of a minute. */
const SLOW: typeof GUARDS = LONG ? [['RefusalForgotten', 1, /^a second start on /, 2]] : [];
/** They have something to limit only where sets have a partition and a spread. */
const LIMITED: ReadonlySet<string> = new Set(['PartitionIgnored', 'SpreadIgnored']);
const runWithAll = createRuns(simulateRollouts);

describe('simulateRollouts', () => {
  it.each([...slice(GUARDS, 1), ...SLOW])(
    'ROL-10 breaks a promise with %s, and none with all guards',
    async (broken, first, promise, hours) => {
      const size = { hours, machines: 8, isLimited: LIMITED.has(broken) };
      const seed = await findSeed(first, promise, async (each) =>
        simulateRollouts({ seed: each, ...size, broken }),
      );
      expect((await runWithAll({ seed, ...size })).violations).toEqual([]);
    },
  );
});

describe('rolloutViewsWith', () => {
  const held = machine('m-1', { spec: { hold: { reason: 'debugging', scope: 'All' } } });
  const views = { Machine: { store: { list: () => [held], get: () => held } } } as never;

  it('shows what is there unless a guard is taken out', () => {
    expect(rolloutViewsWith(views, undefined)).toBe(views);
    expect(rolloutViewsWith(views, 'PauseIgnored')['Machine']?.store.list()).toEqual([held]);
  });

  it('shows the facts of that guard changed, in a list and by name', () => {
    const { store } = rolloutViewsWith(views, 'HoldIgnored')['Machine'] ?? {};
    expect(store?.list()).toEqual([unheld(held)]);
    expect(store?.get('m-1')).toEqual(unheld(held));
  });
});
