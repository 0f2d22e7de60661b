import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../src/api/generated/types.ts';
import { itemsOf, readEachCluster } from '../../../src/cli/fleet/read-fleet.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { clusterColumn } from '../../../src/views/fleet/cluster-column.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

function clusterNamed(name: string): Cluster {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Cluster',
    metadata: { name },
    spec: { environment: 'test' },
  } as Cluster;
}

/** Its name is all that is asked of a client here. */
function clientOf(name: string): Client {
  return { server: name } as Client;
}

describe('readEachCluster', () => {
  it('names the clusters that fail or do not answer in time, beside what the others answered', async () => {
    const clock = virtualClock();
    const closed: string[] = [];
    const reading = readEachCluster(['pre', 'prod', 'silent', 'test'].map(clusterNamed), {
      connect: async ({ metadata: { name } }) => {
        if (name === 'pre') throw new Error('Secret kubenode-system/pre was not found');
        return clientOf(name);
      },
      close: async ({ server }) => void closed.push(server),
      read: async ({ server }, signal) => {
        if (server !== 'silent') return [`machine of ${server}`];
        return await new Promise<never>((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('Aborted')));
        });
      },
      clock,
      signal: new AbortController().signal,
    });
    await clock.advance(10_000);
    expect(await reading).toEqual({
      isFleet: true,
      parts: [
        { cluster: 'prod', found: ['machine of prod'] },
        { cluster: 'test', found: ['machine of test'] },
      ],
      unanswered: [
        { cluster: 'pre', because: 'Secret kubenode-system/pre was not found' },
        { cluster: 'silent', because: 'no answer within 10 s' },
      ],
    });
    expect(closed.toSorted()).toEqual(['prod', 'silent', 'test']);
    expect(clock.sleepers).toBe(0);
  });

  it('ends with the command', async () => {
    const stop = new AbortController();
    stop.abort(new Error('interrupted'));
    const reading = readEachCluster([clusterNamed('test')], {
      connect: async () => clientOf('test'),
      close: async () => undefined,
      read: async (_, signal) => signal.throwIfAborted(),
      clock: virtualClock(),
      signal: stop.signal,
    });
    await expect(reading).rejects.toThrow('interrupted');
  });
});

describe('what several clusters answer', () => {
  it('has the cluster with each item and as the first column, and neither without a hub', () => {
    const parts = [
      { cluster: 'prod', found: [{ name: 'm-1' }] },
      { cluster: 'test', found: [{ name: 'm-1' }] },
    ];
    const items = itemsOf({ isFleet: true, parts, unanswered: [] });
    expect(items).toEqual([
      { name: 'm-1', cluster: 'prod' },
      { name: 'm-1', cluster: 'test' },
    ]);
    const { names, cells } = clusterColumn(true);
    expect([names, items.map(cells)]).toEqual([['cluster'], [['prod'], ['test']]]);
    const [only] = itemsOf({ isFleet: false, parts: [{ found: [{ name: 'm-1' }] }], unanswered: [] });
    expect(only).toEqual({ name: 'm-1' });
    expect(clusterColumn(false).cells(only ?? {})).toEqual([]);
  });
});
