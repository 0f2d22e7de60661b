/** What sync logs of the objects that it applies. */
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/kube/objects/digest.ts';
import { openInventory } from '../../../src/sync/apply/inventory/store.ts';
import { syncCluster } from '../../../src/sync/apply/sync-cluster.ts';
import { type LogLine, memoryLog } from '../../support/memory-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { createFakeCluster, type FakeCluster } from './fake-cluster.ts';
import { configMap, HUB, unit } from './fixtures.ts';

describe('the log of an apply', () => {
  it('names each object of a small step', async () => {
    const log = await apply(createFakeCluster(), 100);
    expect(linesOf(log, 'object applied')).toHaveLength(100);
    expect(linesOf(log, 'object applied')).toContainEqual(
      expect.objectContaining({ object: expect.stringContaining('object-99') as unknown, unit: 'web' }),
    );
    expect(linesOf(log, 'more objects applied')).toEqual([]);
  });

  it('names a hundred objects of a large step, and counts the others', async () => {
    const log = await apply(createFakeCluster(), 130);
    expect(linesOf(log, 'object applied')).toHaveLength(100);
    expect(linesOf(log, 'more objects applied')).toEqual([{ objects: 30 }]);
  });
});

async function apply(cluster: FakeCluster, count: number): Promise<readonly LogLine[]> {
  const { client, live } = cluster.process();
  const log = memoryLog();
  const store = await openInventory(client, { clusterUID: 'cluster-uid', scope: '', epoch: () => 1 });
  const objects = Array.from({ length: count }, (_, index) => configMap(`object-${index}`));
  await syncCluster(
    {
      client,
      live,
      store,
      hub: HUB,
      scope: '',
      serverForms: new Map(),
      applied: async () => undefined,
      clock: virtualClock(),
      log,
      signal: new AbortController().signal,
    },
    {
      commit: 'a'.repeat(40),
      digest: digestOf(objects),
      units: [unit('web', objects)],
      budget: { maxObjects: 1000, maxPercent: 100 },
      acknowledgements: [],
    },
  );
  return log.lines;
}

function linesOf(lines: readonly LogLine[], message: string): readonly unknown[] {
  return lines.filter((line) => line.message === message).map(({ fields }) => fields);
}
