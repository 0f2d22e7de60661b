import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { countEvent, type EventCounts } from '../../../src/rules/clocks/event-counts.ts';
import { ago, NOW } from '../../support/builders.ts';

function event(fields: object): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'e' },
    reason: 'TaskHung',
    ...fields,
  };
}

/** States of one Event, and the seconds at which they were observed. The first is at NOW. */
function count(...states: readonly (readonly [atSeconds: number, fields: object])[]): EventCounts {
  let counts: EventCounts | undefined;
  let before: KubeObject | undefined;
  for (const [seconds, fields] of states) {
    const point = { ms: seconds * 1000, at: new Date(NOW.getTime() + seconds * 1000) };
    counts = countEvent(counts, event(fields), before, point);
    before = event(fields);
  }
  return counts ?? new Map();
}

function blocks(counts: EventCounts): readonly (readonly number[])[] {
  const all = counts.get('TaskHung') ?? [];
  return all.map((block) => [block.count, block.oldestMs / 1000, block.newestMs / 1000]);
}

describe('countEvent', () => {
  it.each<
    readonly [
      name: string,
      found: readonly (readonly number[])[],
      states: readonly (readonly [number, object])[],
    ]
  >([
    ['counts one at its own time', [[1, -30, -30]], [[0, { lastTimestamp: ago(30) }]]],
    ['reads the time of newer Events, too', [[1, -30, -30]], [[0, { eventTime: ago(30) }]]],
    ['takes a time in the future, or none, for now', [[1, 5, 5]], [[5, { lastTimestamp: ago(-60) }]]],
    [
      'knows when the first and the last of several were',
      [[4, -90, -30]],
      [[0, { count: 4, firstTimestamp: ago(90), lastTimestamp: ago(30) }]],
    ],
    [
      'counts how many were added',
      [
        [1, -30, -30],
        [2, -30, 10],
      ],
      [
        [0, { count: 1, lastTimestamp: ago(30) }],
        [10, { count: 3, lastTimestamp: ago(-10) }],
      ],
    ],
    [
      'counts a series',
      [
        [1, 0, 0],
        [1, 20, 20],
      ],
      [
        [0, { eventTime: ago(0) }],
        [20, { eventTime: ago(0), series: { count: 2, lastObservedTime: ago(-20) } }],
      ],
    ],
    [
      'counts nothing again for another message',
      [[1, 0, 0]],
      [
        [0, { lastTimestamp: ago(0) }],
        [20, { lastTimestamp: ago(0), message: 'other' }],
      ],
    ],
    [
      'believes no count above 10,000',
      [[10_000, -9, 0]],
      [[0, { count: 1e15, firstTimestamp: ago(9), lastTimestamp: ago(0) }]],
    ],
    ['takes a count of another type for 1', [[1, 0, 0]], [[0, { count: '7', lastTimestamp: ago(0) }]]],
    [
      'forgets what is older than a day',
      [[1, 90_000, 90_000]],
      [
        [0, { count: 1, lastTimestamp: ago(0) }],
        [90_000, { count: 2, lastTimestamp: ago(-90_000) }],
      ],
    ],
  ])('%s', (_, found, states) => {
    expect(blocks(count(...states))).toEqual(found);
  });

  it('merges the oldest of more than 64, so that memory is limited and no count is lost', () => {
    const states = Array.from(
      { length: 200 },
      (_, index) => [index, { count: index + 1, lastTimestamp: ago(-index) }] as const,
    );
    const all = blocks(count(...states));
    expect(all.length).toBe(64);
    expect(all[0]).toEqual([137, 0, 136]);
    expect(all.reduce((sum, [each = 0]) => sum + each, 0)).toBe(200);
  });
});
