import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../src/api/generated/types.ts';
import { activeRollback, endRollbackCommand, rollbackText } from '../../../src/api/status/rollbacks.ts';
import { clusterOf } from '../../sync/promote/builders.ts';

const ROLLBACK = {
  commit: '4f2c9e1a77b0c1d2e3f405162738495a6b7c8d9e',
  digest: 'sha256:1',
  by: 'anna',
  reason: 'ticket 7',
  since: '2030-01-01T00:00:00Z',
};

function withEnd(since: string): Cluster {
  const rollbackEnd = { since, endedAt: '2030-01-02T00:00:00Z', commit: 'c9' };
  return clusterOf({ rollback: ROLLBACK }, { rollbackEnd });
}

describe('activeRollback', () => {
  it.each<[what: string, cluster: Cluster, isActive: boolean]>([
    ['no rollback', clusterOf(), false],
    ['a rollback', clusterOf({ rollback: ROLLBACK }), true],
    ['a rollback that git caught up with', withEnd(ROLLBACK.since), false],
    ['a rollback after an earlier one that ended', withEnd('2029-01-01T00:00:00Z'), true],
  ])('S24 finds with %s whether one is in force', (_, cluster, isActive) => {
    expect(activeRollback(cluster)).toBe(isActive ? ROLLBACK : undefined);
  });

  it('names who, since when and why, and the command that ends it', () => {
    expect(rollbackText(ROLLBACK)).toBe(
      'rolled back to 4f2c9e1a77b0 by anna since 2030-01-01T00:00:00Z: ticket 7',
    );
    expect(endRollbackCommand('prod')).toBe('kubenode rollback prod --end');
  });
});
