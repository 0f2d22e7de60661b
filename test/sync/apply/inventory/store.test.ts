import { describe, expect, it } from 'vitest';
import type { Client } from '../../../../src/kube/client/client.ts';
import { KubeError } from '../../../../src/kube/client/errors.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import type { InventoryEntry } from '../../../../src/sync/apply/inventory/inventory.ts';
import { openInventory } from '../../../../src/sync/apply/inventory/store.ts';
import { createFakeCluster } from '../fake-cluster.ts';
import { configMap, entry } from '../fixtures.ts';

const OPTIONS = { clusterUID: 'cluster-uid', scope: '', epoch: () => 1 };

/** Entries for three ConfigMaps of the inventory: two fill one of them. */
const large = ['a', 'b', 'c', 'd', 'e'].map((name) => entry(configMap(name), { commit: 'x'.repeat(70_000) }));

describe('openInventory', () => {
  it('S1 writes several ConfigMaps at once, and finds every entry again', async () => {
    const { client, most } = counting(createFakeCluster().process().client);
    await (await openInventory(client, OPTIONS)).write({ add: large, remove: [] });
    expect(most()).toBe(3);
    const { entries } = (await openInventory(client, OPTIONS)).inventory();
    expect([...entries.values()].map(nameOf).toSorted()).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('S1 removes nothing before all additions are durable', async () => {
    const cluster = createFakeCluster();
    const { client } = cluster.process();
    const store = await openInventory(client, OPTIONS);
    await store.write({ add: large, remove: [] });
    const failing: Client = { ...client, create: () => Promise.reject(new KubeError('Timeout', 'lost')) };
    const again = await openInventory(failing, OPTIONS);
    const added = entry(configMap('new'), { unit: 'app' });
    await expect(again.write({ add: [added], remove: ['ConfigMap default/a'] })).rejects.toThrow('lost');
    expect((await openInventory(client, OPTIONS)).inventory().entries.size).toBe(5);
  });

  it('rejects only after every write has ended, so that nothing changes behind the next reader', async () => {
    const { client } = createFakeCluster().process();
    await (await openInventory(client, OPTIONS)).claim();
    let ended = 0;
    const half: Client = {
      ...client,
      create: async <T>(...args: Parameters<Client['create']>) => {
        if (args[1].metadata.name.endsWith('-0')) throw new KubeError('Conflict', 'another sync');
        for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        ended += 1;
        return client.create<T>(...args);
      },
    };
    const store = await openInventory(half, OPTIONS);
    await expect(store.write({ add: large, remove: [] })).rejects.toThrow('another sync');
    expect(ended).toBe(2);
  });
});

function nameOf({ name }: InventoryEntry): string {
  return name;
}

/** Counts how many creates are in flight at most. */
function counting(client: Client): { readonly client: Client; readonly most: () => number } {
  let [running, most] = [0, 0];
  const create: Client['create'] = async <T = KubeObject>(...args: Parameters<Client['create']>) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return client.create<T>(...args);
  };
  return { client: { ...client, create }, most: () => most };
}
