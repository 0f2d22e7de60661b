import { describe, expect, it } from 'vitest';
import { trackSegments, trackTicks, trackWindow } from '../../../../src/console/state/pages/repair-track.ts';
import type { RepairCard } from '../../../../src/console/state/state.ts';

const NOW = Date.parse('2026-03-02T10:00:00Z');
const MINUTE = 60_000;

/** A repair whose moments were so many minutes ago; undefined: not reached. */
function repair(
  state: string,
  ...minutes: readonly (number | undefined)[]
): Pick<RepairCard, 'timeline' | 'state'> {
  const names = ['fault', 'detected', 'granted', 'acted'];
  const timeline = minutes.map((ago, index) => ({
    what: names[index] ?? '',
    because: '',
    ...(ago === undefined ? {} : { at: new Date(NOW - ago * MINUTE).toISOString() }),
  }));
  return { state, timeline };
}

describe('trackWindow', () => {
  it.each([
    ['the shortest axis that contains an open repair', [repair('Running', 5)], 15],
    ['a longer one for an older repair', [repair('NeedsPerson', 16), repair('Running', 3)], 60],
    ['no longer one for a repair that has ended', [repair('Running', 3), repair('Succeeded', 300)], 15],
    ['the newest repair if none is open', [repair('Succeeded', 300), repair('Failed', 50)], 60],
    ['at most a day', [repair('Running', 5000)], 1440],
    ['a repair without a time', [repair('Running', undefined)], 1440],
  ])('shows %s', (_, cards, minutes) => {
    const { fromMs, toMs } = trackWindow(cards, NOW);
    expect([(toMs - fromMs) / MINUTE, toMs]).toEqual([minutes, NOW]);
  });
});

it('marks round times on the axis', () => {
  const ticks = trackTicks(trackWindow([repair('Running', 55)], NOW + 5 * MINUTE));
  const times = ticks.map(({ ms }) => new Date(ms).toISOString().slice(11, 16));
  expect(times).toEqual(['09:10', '09:20', '09:30', '09:40', '09:50', '10:00']);
  expect(ticks[0]?.left).toBeCloseTo(100 / 12);
});

describe('trackSegments', () => {
  const axis = { fromMs: NOW - 10 * MINUTE, toMs: NOW, stepMs: MINUTE };

  it('has a segment from each moment to the next, and an open one until now', () => {
    expect(trackSegments(repair('Running', 8, 5, 4, undefined), axis)).toEqual([
      { what: 'detected', isOpen: false, left: 20, width: 30, duration: '3 min' },
      { what: 'granted', isOpen: false, left: 50, width: 10, duration: '60 s' },
      { what: 'acted', isOpen: true, left: 60, width: 40, duration: '4 min' },
    ]);
  });

  it('ends with the last moment of a repair that is over', () => {
    const segments = trackSegments(repair('Failed', 8, 5, undefined, undefined), axis);
    expect(segments.map(({ what, isOpen }) => [what, isOpen])).toEqual([['detected', false]]);
  });

  it('cuts what is older than the axis, and keeps its duration', () => {
    expect(trackSegments(repair('Running', 30, 20, 5, undefined), axis)).toMatchObject([
      { what: 'granted', left: 0, width: 50, duration: '15 min' },
      { what: 'acted', left: 50, width: 50 },
    ]);
  });

  it('skips moments without a time', () => {
    const segments = trackSegments(repair('Succeeded', undefined, 5, 4, 1), axis);
    expect(segments.map(({ what }) => what)).toEqual(['granted', 'acted']);
  });
});
