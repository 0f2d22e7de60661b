import { describe, expect, it } from 'vitest';
import { createCommitHistory } from '../../../../src/sync/promote/commit-history.ts';
import { unexercisedClusters } from '../../../../src/sync/promote/stage/unexercised.ts';
import { commitsOf } from '../builders.ts';

describe('unexercisedClusters', () => {
  it.each<
    [name: string, commits: readonly (readonly [test: string, prod: string])[], expected: readonly string[]]
  >([
    [
      'a change in both stages',
      [
        ['a1', 'a1'],
        ['a2', 'a2'],
      ],
      [],
    ],
    [
      'a change of the same unit to another version',
      [
        ['a1', 'a1'],
        ['a2', 'a3'],
      ],
      [],
    ],
    [
      'a change in prod only',
      [
        ['a1', 'a1'],
        ['a1', 'a2'],
      ],
      ['prod-1'],
    ],
    [
      'a change of another unit in prod',
      [
        ['a1 b1', 'a1 b1'],
        ['a2 b1', 'a1 b2'],
      ],
      ['prod-1'],
    ],
    [
      'a change in test only',
      [
        ['a1', 'a1'],
        ['a2', 'a1'],
      ],
      [],
    ],
    [
      'a new unit in prod only',
      [
        ['a1', 'a1'],
        ['a1', 'a1 b1'],
      ],
      ['prod-1'],
    ],
    [
      'a removed unit in prod only',
      [
        ['a1', 'a1 b1'],
        ['a1', 'a1'],
      ],
      ['prod-1'],
    ],
    [
      'a change that is reverted within the range',
      [
        ['a1', 'a1'],
        ['a1', 'a2'],
        ['a1', 'a1'],
      ],
      [],
    ],
    [
      'a change in prod only, before one in both',
      [
        ['a1', 'a1'],
        ['a1', 'a2'],
        ['a3', 'a3'],
      ],
      ['prod-1'],
    ],
  ])('decides for %s: %j', (_, commits, expected) => {
    const history = createCommitHistory(
      commitsOf(...commits.map(([test, prod]) => ({ 'test-1': test, 'prod-1': prod }))),
    );
    const range = { from: 'c1', to: `c${commits.length}` };
    expect(unexercisedClusters(history, range, ['prod-1'], ['test-1'])).toEqual(expected);
  });

  it('finds nothing in the first stage, or without a rendered commit', () => {
    const history = createCommitHistory([...commitsOf({ x: 'a1' }, { x: 'a2' }), { id: 'c3' }]);
    expect(unexercisedClusters(history, { from: 'c1', to: 'c2' }, ['x'], [])).toEqual([]);
    expect(unexercisedClusters(history, { from: 'c2', to: 'c3' }, ['x'], ['y'])).toEqual([]);
  });
});
