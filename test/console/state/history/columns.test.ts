import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  memoryColumns,
  pastColumns,
  spreadLabels,
  summarizeLine,
} from '../../../../src/console/state/history/columns.ts';
import type { HistoryPoint } from '../../../../src/console/state/state.ts';

const NONE: HistoryPoint = { ready: 0, changing: 0, trouble: 0, repairs: 0, grants: 0, updated: 0 };

describe('the columns of the memory', () => {
  it('have a value of each line for each point of the range', () => {
    const history = { 10: { ...NONE, trouble: 4 }, 15: { ...NONE, trouble: 1, ready: 9 } };
    const { from, to, times, lines } = memoryColumns(history, '15m');
    expect([from, to, times]).toEqual([-885, 15, [10, 15]]);
    expect([lines.trouble, lines.ready, lines.contact]).toEqual([[4, 1], [0, 9], undefined]);
  });

  it('leave out what is older than the range', () => {
    const history = { 0: NONE, 100: NONE, 1000: NONE };
    expect(memoryColumns(history, '15m').times).toEqual([100, 101, 1000]);
    expect(memoryColumns(history, '1h').times).toEqual([0, 1, 100, 101, 1000]);
  });

  it('CON-30 have a gap where no point was recorded, and none between points of the usual distance', () => {
    const history = { 0: NONE, 5: NONE, 20: NONE, 60: { ...NONE, grants: 2 } };
    const { times, lines } = memoryColumns(history, '15m');
    expect(times).toEqual([0, 5, 20, 21, 60]);
    expect(lines.grants).toEqual([0, 0, 0, null, 2]);
  });

  it('are empty before the first point', () => {
    expect(memoryColumns({}, '1h').times).toEqual([]);
  });
});

describe('the columns of Prometheus', () => {
  it('CON-30 keep its gaps, and draw the step that is not over at the time of the answer', () => {
    const answer = { at: 95, from: 0, step: 30, lines: { ready: [1, null, 3, 4, 5] }, missing: [] };
    expect(pastColumns(answer, '15m')).toEqual({
      from: -805,
      to: 95,
      times: [0, 30, 60, 90, 95],
      lines: { ready: [1, null, 3, 4, 5] },
    });
  });
});

describe('the summary of a line', () => {
  it.each([
    ['numbers', [1, 5, 2], { now: 2, most: 5, least: 1 }],
    ['a gap before now', [1, 5, null], { now: undefined, most: 5, least: 1 }],
    ['nothing but a gap', [null, null], undefined],
    ['no values at all', undefined, undefined],
  ] as const)('is that of %s', (_, values, expected) => {
    expect(summarizeLine(values)).toEqual(expected);
  });
});

describe('the labels at the ends of lines', () => {
  it('stay where they are if they do not cover each other, and move apart if they do', () => {
    expect(spreadLabels([10, 60], 16, 100)).toEqual([10, 60]);
    expect(spreadLabels([50, 52], 16, 100)).toEqual([50, 66]);
    expect(spreadLabels([99, 98, 97], 16, 100)).toEqual([84, 68, 52]);
    expect(spreadLabels([], 16, 100)).toEqual([]);
  });

  it('never cover each other, for any lines that have room', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -50, max: 200 }), { maxLength: 4 }), (places) => {
        const spread = spreadLabels(places, 16, 120).toSorted((a, b) => a - b);
        expect(spread.every((place) => place >= 0 && place <= 104)).toBe(true);
        expect(spread.every((place, index) => index === 0 || place - (spread[index - 1] ?? 0) >= 16)).toBe(
          true,
        );
      }),
    );
  });
});
