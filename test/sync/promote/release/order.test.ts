import { describe, expect, it } from 'vitest';
import type { Release } from '../../../../src/api/generated/types.ts';
import { createCommitHistory } from '../../../../src/sync/promote/commit-history.ts';
import { isNewer, newerOf, orderReleases, stageCurrent } from '../../../../src/sync/promote/release/order.ts';
import { commitsOf, releaseOf } from '../builders.ts';

const history = createCommitHistory(commitsOf({}, {}, {}));

function started(commit: string, startedAt: string): Release {
  return { ...releaseOf(commit), status: { conditions: [], stages: [], startedAt } };
}

describe('orderReleases', () => {
  it('follows the order of the commits, and of the start times of old ones', () => {
    const releases = [
      releaseOf('c3'),
      started('old-2', '2030-01-02T00:00:00Z'),
      releaseOf('c1'),
      started('old-1', '2030-01-01T00:00:00Z'),
    ];
    const ordered = orderReleases(releases, history);
    expect(ordered.map(({ commit }) => commit)).toEqual(['old-1', 'old-2', 'c1', 'c3']);
    const [first, second] = ordered;
    expect(first && second && [isNewer(second, first, ordered), newerOf(second, first, ordered)]).toEqual([
      true,
      second,
    ]);
  });
});

describe('stageCurrent', () => {
  it.each<[name: string, states: readonly string[], expected: string]>([
    ['no Release', [], '- - idle'],
    ['a Release that waits', ['Waiting'], '- - idle'],
    ['a Release in progress', ['Promoting'], 'c1 - busy'],
    ['a proven Release', ['Proven', 'Waiting'], 'c1 c1 idle'],
    ['a newer one in progress', ['Proven', 'Soaking'], 'c2 c1 busy'],
    ['a failed one', ['Proven', 'Failed', 'Waiting'], 'c2 c1 busy'],
    ['an older one in progress', ['Promoting', 'Proven'], 'c2 c2 idle'],
    ['a superseded one', ['Proven', 'Superseded', 'Promoting'], 'c3 c1 busy'],
  ])('decides with %s', (_, states, expected) => {
    const releases = states.map((state, index) => releaseOf(`c${index + 1}`, `prod=${state}`));
    const { release, proven, busy } = stageCurrent(orderReleases(releases, history), 'prod');
    const text = `${release?.commit ?? '-'} ${proven?.commit ?? '-'} ${busy ? 'busy' : 'idle'}`;
    expect(text).toBe(expected);
  });
});
