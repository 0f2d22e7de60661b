import { describe, expect, it } from 'vitest';
import { type ComponentHistories, observeComponents } from '../../../src/rules/clocks/component-clock.ts';
import { ago, NOW } from '../../support/builders.ts';

function observe(
  ...states: readonly (readonly [atSeconds: number, report: object | null])[]
): ComponentHistories {
  let histories: ComponentHistories | undefined;
  for (const [seconds, report] of states) {
    const point = { ms: seconds * 1000, at: new Date(NOW.getTime() + seconds * 1000) };
    histories = observeComponents(histories, [report && { name: 'kubelet', ...report }], point);
  }
  return histories ?? new Map();
}

describe('observeComponents', () => {
  it.each<
    readonly [name: string, seconds: number | undefined, states: readonly (readonly [number, object])[]]
  >([
    [
      'has no start of a failure while the component is ready',
      undefined,
      [[0, { state: 'Committed', ready: true }]],
    ],
    [
      'counts from when it observed that the component is not ready',
      5,
      [
        [0, { ready: true }],
        [5, { ready: false }],
        [9, { ready: false, state: 'Failed', since: ago(60) }],
      ],
    ],
    [
      'reads since when it is Failed if that was before the process began',
      -60,
      [[0, { state: 'Failed', since: ago(60) }]],
    ],
    ['counts from now without that time', 0, [[0, { state: 'Failed' }]]],
    [
      'begins again after it was ready',
      9,
      [
        [0, { ready: false }],
        [5, { ready: true }],
        [9, { ready: false }],
      ],
    ],
  ])('%s', (_, seconds, states) => {
    const failedMs = observe(...states).get('kubelet')?.failedMs;
    expect(failedMs === undefined ? undefined : failedMs / 1000).toBe(seconds);
  });

  it('counts restarts from when it observed them, and knows all of a component that never restarted', () => {
    const history = observe([0, {}], [10, { restarts: 2 }], [20, { restarts: 2 }], [30, { restarts: 3 }]);
    expect(history.get('kubelet')).toMatchObject({
      completeMs: -Infinity,
      restarted: [
        { ms: 10_000, count: 2 },
        { ms: 30_000, count: 1 },
      ],
    });
  });

  it('does not know when restarts were that it did not observe', () => {
    expect(observe([7, { restarts: 5 }]).get('kubelet')).toMatchObject({ completeMs: 7000, restarted: [] });
  });

  it('takes a count that decreased for one that began again', () => {
    const history = observe([0, { restarts: 5 }], [10, { restarts: 1 }]);
    expect(history.get('kubelet')?.restarted).toEqual([{ ms: 10_000, count: 1 }]);
  });

  it('forgets restarts after an hour', () => {
    const history = observe([0, {}], [10, { restarts: 1 }], [3700, { restarts: 2 }]);
    expect(history.get('kubelet')?.restarted).toEqual([{ ms: 3_700_000, count: 1 }]);
  });

  it('R1 ignores reports without a name, and counts that are not numbers', () => {
    expect(observe([0, null]).size).toBe(0);
    expect(observe([0, { restarts: 'many' }]).get('kubelet')?.restarts).toBe(0);
  });
});
