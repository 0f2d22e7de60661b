import { describe, expect, it } from 'vitest';
import { existsError, newCluster } from '../../../../../src/cli/commands/cluster/hosted/new-cluster.ts';
import { hostedCluster } from '../../../../support/hosting/objects.ts';

const DAY = 86_400;

describe('a new hosted cluster', () => {
  it('is a throw-away cluster that one command deletes again', () => {
    expect(newCluster({ name: 'ci', version: '1.36.3', ttlSeconds: DAY })).toMatchObject({
      metadata: { name: 'ci' },
      spec: {
        environment: 'test',
        deletion: { protection: false },
        hosted: { driver: 'process', version: 'v1.36.3', ttlSecondsAfterReady: DAY },
      },
    });
  });

  it('has no end without a time to live, and the version as it was typed', () => {
    const { spec } = newCluster({ name: 'ci', version: 'v1.35.4', ttlSeconds: undefined });
    expect(spec).toHaveProperty('hosted', { driver: 'process', version: 'v1.35.4' });
  });

  it.each([
    ['Ci', DAY, '"Ci" cannot be the name of a hosted cluster'],
    ['ci.example', DAY, '"ci.example" cannot be the name of a hosted cluster'],
    ['ci', 59, '--ttl: expected a duration from 60s to 7d, got 59s'],
    ['ci', 7 * DAY + 1, '--ttl: expected a duration from 60s to 7d, got 604801s'],
  ])('is refused as %s with %i seconds to live', (name, ttlSeconds, message) => {
    expect(() => newCluster({ name, version: 'v1.36.3', ttlSeconds })).toThrow(message);
  });

  it.each([[60], [7 * DAY]])('may live for %i seconds', (ttlSeconds) => {
    const { spec } = newCluster({ name: 'ci', version: 'v1.36.3', ttlSeconds });
    expect(spec).toHaveProperty('hosted.ttlSecondsAfterReady', ttlSeconds);
  });

  it('names the next command where the name is taken', () => {
    const deleting = { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } };
    const { hosted: _, ...spec } = hostedCluster().spec;
    const synced = { ...hostedCluster(), spec };
    expect(existsError(hostedCluster()).hint).toContain('kubenode cluster kubeconfig ci --wait');
    expect(existsError(hostedCluster(deleting)).hint).toContain('kubenode cluster delete ci --wait');
    for (const each of [synced, { ...hostedCluster(deleting), spec }]) {
      expect(existsError(each).hint).toBe('choose another name: it is a cluster that the hub only syncs');
    }
  });
});
