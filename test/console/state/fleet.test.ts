import { describe, expect, it } from 'vitest';
import { clusterOf, countPhases, groupFleet, NO_STAGE } from '../../../src/console/state/fleet.ts';
import { clusterLine, stateOf } from '../fixtures.ts';

const lines = {
  prod: clusterLine('prod', { order: 2 }),
  test: clusterLine('test', { order: 0, stage: 'test' }),
  'prod-b': clusterLine('prod-b', { order: 1 }),
  here: clusterLine('here', { order: 3, stage: '' }),
};

describe('groupFleet', () => {
  it('puts clusters into stages in their order, and machines into zones by name', () => {
    const machines = {
      'prod/m-2': { p: 'Ready', z: 'b' },
      'prod/m-3': { p: 'Ready' },
      'prod/m-1': { p: 'Ready', z: 'b' },
      'prod/m-4': { p: 'Ready', z: 'a' },
    };
    const stages = groupFleet({ clusters: lines, machines });
    expect(stages.map(({ stage, clusters }) => [stage, clusters.map(({ line }) => line.name)])).toEqual([
      ['test', ['test']],
      ['prod', ['prod-b', 'prod']],
      [NO_STAGE, ['here']],
    ]);
    const prod = stages[1]?.clusters[1];
    expect([
      prod?.machines,
      prod?.zones.map(({ zone, tiles }) => [zone, tiles.map(({ name }) => name)]),
    ]).toEqual([
      4,
      [
        ['a', ['m-4']],
        ['b', ['m-1', 'm-2']],
        ['no zone', ['m-3']],
      ],
    ]);
  });

  it('shows no machine of a cluster that is not listed', () => {
    expect(groupFleet(stateOf({ 'gone/m-1': 'Ready' }))).toEqual([]);
  });
});

it('counts the phases of a zone, the most frequent first', () => {
  const tiles = ['Ready', 'Stalled', 'Ready', 'Held'].map((p, index) => ({
    key: `a/m-${index}`,
    name: `m-${index}`,
    tile: { p },
  }));
  expect(countPhases(tiles)).toEqual([
    ['Ready', 2],
    ['Held', 1],
    ['Stalled', 1],
  ]);
  expect(clusterOf('prod/m-1')).toBe('prod');
});
