import { describe, expect, it } from 'vitest';
import type { RolloutEvent } from '../../../../src/sim/rollout/history.ts';
import { judgeHistory } from '../../../../src/sim/rollout/judge/judge.ts';
import { clock, desired, FIRST_BATCH, FLEET, host, machine, start } from './histories.ts';

type History = readonly (RolloutEvent | readonly RolloutEvent[])[];

function judge(history: History): readonly string[] {
  return judgeHistory(history.flat()).map(({ what }) => what);
}

const NEXT = start(1400, 'm-2', { batch: 1 });
const EARLY = start(1200, 'm-2', { batch: 1 });
const TOO_EARLY = 'batch 1 begins 140 s after m-1 was well, and 300 s are asked for';

describe('gateViolations', () => {
  it.each<[name: string, history: History, found: readonly string[]]>([
    ['a batch after the soak', [NEXT], []],
    ['a batch before the end of the soak', [EARLY], [TOO_EARLY]],
    ['another machine of the same batch', [start(1200, 'm-2')], []],
    ['a machine outside of the batches', [start(1200, 'm-2', { batch: undefined } as never)], []],
    ['a rollback', [start(1200, 'm-2', { batch: 1, revision: 'r-1' })], []],
    [
      'a soak that a pause stopped',
      [desired(1100, { paused: true }), desired(1300), NEXT],
      ['batch 1 begins 140 s after m-1 was well, and 300 s are asked for'],
    ],
    [
      'a soak after a pause',
      [desired(1100, { paused: true }), desired(1300), start(1600, 'm-2', { batch: 1 })],
      [],
    ],
    ['a clock that jumps', [clock(1100, 160_000), EARLY], []],
    [
      'a clock that jumps less than that',
      [clock(1100, 60_000), EARLY],
      ['batch 1 begins 140 s after m-1 was well, and 240 s are asked for'],
    ],
    ['a short interruption', [machine(1300, 'm-1', { serves: false }), machine(1310, 'm-1'), NEXT], []],
    [
      'a long interruption',
      [machine(1100, 'm-1', { serves: false }), machine(1300, 'm-1'), NEXT],
      ['batch 1 begins 100 s after m-1 was well, and 300 s are asked for'],
    ],
    [
      'a machine that is not well any more',
      [machine(1100, 'm-1', { serves: false }), NEXT],
      ['batch 1 begins, and 1 machines of batch 0 failed'],
    ],
    [
      'a failure within the budget that ended a moment ago',
      [desired(1050, { maxFailed: 1 }), machine(1100, 'm-1', { serves: false }), machine(1350, 'm-1'), NEXT],
      [],
    ],
    [
      'a failure above the budget that ended a moment ago',
      [machine(1100, 'm-1', { serves: false }), machine(1350, 'm-1'), NEXT],
      ['batch 1 begins, and 1 machines of batch 0 failed'],
    ],
    [
      'a failure within the budget that came back before the next batch began',
      [desired(1050, { maxFailed: 1 }), machine(1100, 'm-1', { serves: false }), machine(1300, 'm-1'), NEXT],
      [],
    ],
    ['a cordon', [machine(1100, 'm-1', { serves: false, isHealthy: true }), NEXT], []],
    [
      'a failure within the budget',
      [desired(1050, { maxFailed: 1 }), machine(1100, 'm-1', { serves: false }), NEXT],
      [],
    ],
    [
      'a machine that is held',
      [machine(1065, 'm-1', { isHeld: true }), EARLY.map((each) => ({ ...each, atMs: 1_250_000 }))],
      [],
    ],
    ['a machine that left', [machine(1065, 'm-1', { sets: [] }), EARLY], []],
    [
      'an approval that is missing',
      [desired(1050, { maxBatch: 0 }), NEXT],
      ['batch 1 begins without an approval'],
    ],
    ['an approval that is given', [desired(1050, { maxBatch: 1 }), NEXT], []],
  ])('judges %s', (_, history, found) => {
    const all = [...FIRST_BATCH, ...history.flat()].toSorted((a, b) => a.atMs - b.atMs);
    expect(judge(all)).toEqual(found);
  });

  it('waits for every machine of the batch before', () => {
    const working = [FLEET, start(1010, 'm-1'), NEXT];
    expect(judge(working)).toEqual(['batch 1 begins while m-1 is in work']);
    expect(
      judge([FLEET, start(1010, 'm-1'), host(1060, 'm-1', 'GaveUp'), start(1100, 'm-2', { batch: 1 })]),
    ).toEqual(['batch 1 begins, and 1 machines of batch 0 failed']);
  });

  it.each([
    [1, []],
    [0, ['batch 1 begins 150 s after m-1 was well, and 300 s are asked for']],
  ])('waits for no machine that commits after its time, within a budget of %i', (maxFailed, found) => {
    const late = [start(1010, 'm-1'), host(1950, 'm-1', 'Committed'), start(2100, 'm-2', { batch: 1 })];
    expect(judge([FLEET, desired(1005, { maxFailed }), ...late])).toEqual(found);
  });

  it('waits for no machine that was out of service before', () => {
    const broken = machine(500, 'm-1', { serves: false });
    expect(judge([FLEET, broken, start(1010, 'm-1'), EARLY])).toEqual([]);
  });

  it('needs no soak on a revert to a revision that completed', () => {
    const back = [desired(2000, { revision: 'r-1' }), start(2010, 'm-1', { revision: 'r-1' })];
    const next = start(2070, 'm-2', { revision: 'r-1', batch: 1 });
    expect(judge([FIRST_BATCH, ...back, host(2060, 'm-1', 'Committed', 'r-1'), next])).toEqual([]);
    expect(judge([FIRST_BATCH, ...back, next])).toEqual(['batch 1 begins while m-1 is in work']);
  });

  it('lets a machine that tries again join the batch that it was in', () => {
    const token = desired(1300, { retryToken: 'again' });
    const retried = [
      host(1380, 'm-1', 'GaveUp'),
      token,
      start(1390, 'm-3'),
      start(1400, 'm-1', { batch: 0 }),
    ];
    expect(judge([FIRST_BATCH, ...retried])).toEqual([]);
  });

  it('waits for a machine that tries again, unless its batch was over', () => {
    const again = [desired(1510, { retryToken: 'again', maxUnavailable: 4 }), start(1520, 'm-1')];
    const other = start(1530, 'm-3', { batch: 1 });
    const failed = host(1500, 'm-1', 'GaveUp');
    expect(judge([FIRST_BATCH, failed, ...again, other])).toEqual(['batch 1 begins while m-1 is in work']);
    expect(judge([FIRST_BATCH, NEXT, failed, ...again, other])).toEqual([]);
    // After a rollback every batch begins again.
    const back = start(1505, 'm-1', { revision: 'r-1' });
    expect(judge([FIRST_BATCH, NEXT, failed, back, ...again, other])).toEqual([
      'batch 1 begins while m-1 is in work',
    ]);
  });
});
