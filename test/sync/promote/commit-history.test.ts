import { describe, expect, it } from 'vitest';
import { EMPTY_TARGET } from '../../../src/sync/commits.ts';
import { createCommitHistory } from '../../../src/sync/promote/commit-history.ts';
import { commitsOf, targetOf } from './builders.ts';

const history = createCommitHistory([...commitsOf({ x: 'a1' }, { x: 'a2' }), { id: 'c3' }]);

describe('the commit history', () => {
  it('orders commits, and puts commits that are not accepted before them', () => {
    expect(['c1', 'c3', 'c9', undefined].map((id) => history.order(id))).toEqual([0, 2, -1, -1]);
    expect(history.newest?.id).toBe('c3');
    expect([history.previous('c2')?.id, history.previous('c1')?.id]).toEqual(['c1', undefined]);
  });

  it.each([
    ['c1', 'x', targetOf('a1')],
    ['c1', 'y', EMPTY_TARGET],
    ['c3', 'x', undefined],
    ['c9', 'x', undefined],
  ])('renders %s for cluster %s', (commit, cluster, expected) => {
    expect(history.target(commit, cluster)).toEqual(expected);
  });

  it.each([
    ['c1', 'c3', ['c2', 'c3']],
    [undefined, 'c2', ['c1', 'c2']],
    ['c9', 'c1', ['c1']],
    ['c3', 'c1', []],
  ])('lists the commits between %s and %s: %j', (from, to, expected) => {
    expect(history.between(from, to).map(({ id }) => id)).toEqual(expected);
  });
});
