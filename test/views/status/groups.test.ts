import { describe, expect, it } from 'vitest';
import { groupClusters } from '../../../src/views/status/groups.ts';
import type { ClusterRow } from '../../../src/views/status/hub-status.ts';
import { COMMIT, HEALTHY } from '../../cli/commands/builders.ts';

const row = (name: string, over: Partial<ClusterRow> = {}): ClusterRow => ({
  name,
  stage: 'prod',
  commit: COMMIT,
  state: 'Soaking',
  synced: 'True',
  ...HEALTHY,
  because: 'soaks until 2030-01-01T12:00:00.123Z',
  since: '2030-01-01T11:58:00Z',
  ...over,
});

describe('groupClusters', () => {
  it('puts clusters together that differ only by times, with the oldest of them', () => {
    const early = { since: '2030-01-01T11:50:00Z', because: 'soaks until 2030-01-01T11:59:00Z' };
    const groups = groupClusters([row('a'), row('b', early), row('c')]);
    expect(groups).toEqual([{ names: ['a', 'b', 'c'], row: row('b', early) }]);
  });

  it.each([
    { state: 'Failed' },
    { stage: 'test' },
    { synced: 'Unknown' },
    { health: 'Unhealthy' } as const,
    { commit: '' },
    { because: 'waits' },
    { pipeline: 'other' },
  ])('keeps a cluster apart that differs by %o', (over) => {
    expect(groupClusters([row('a'), row('b', over), row('c')]).map(({ names }) => names)).toEqual([
      ['a', 'c'],
      ['b'],
    ]);
  });
});
