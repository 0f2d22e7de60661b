/** A person deletes the inventory of a cluster that sync manages: nothing is left behind, and nothing of others is deleted. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LABEL_HUB, NAMESPACE } from '../../../src/api/names.ts';
import { EVENTS } from '../../../src/kube/events/object.ts';
import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../src/kube/objects/json.ts';
import type { Resource } from '../../../src/kube/objects/object.ts';
import type { Sync } from '../../../src/sync/sync.ts';
import { startTestFleet, type TestFleet } from './test-fleet.ts';

const PROD = 'clusters/prod/web/objects.yaml';
const ACCOUNTS: Resource = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
};
const NEXT = '---\n';
const SETTINGS = object('ConfigMap', 'settings');
const CONFIG_MAPS_OF_ALL = ['ConfigMap removed', 'ConfigMap settings', 'ConfigMap theirs'];

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await startTestFleet();
});
beforeEach(() => fleet.reset());
afterAll(() => fleet.stop());

describe('sync after the inventory was deleted by hand under a Proven cluster', () => {
  it('S1 leaves no orphan of a commit that removes objects at the same time, and nothing of others is touched', async () => {
    const kept = [SETTINGS, object('ConfigMap', 'removed')];
    const sync = await proven('more', [
      ...kept,
      object('ConfigMap', 'first'),
      object('ServiceAccount', 'removed'),
    ]);
    await copyLabels('settings', 'theirs');
    await deleteInventory();
    // This process still knows what the inventory listed.
    const first = fleet.commitFiles('remove', {
      [PROD]: [...kept, object('ServiceAccount', 'removed')].join(NEXT),
    });
    await fleet.allProven(first);
    expect(await ownedInProd()).toEqual([...CONFIG_MAPS_OF_ALL, 'ServiceAccount removed']);
    expect(await orphanEvents()).toEqual([]);

    await sync.close();
    await deleteInventory();
    // With the last of its kind: git declares no ServiceAccount afterwards.
    const last = fleet.commitFiles('remove', { [PROD]: SETTINGS });
    await fleet.sync('two');
    await fleet.allProven(last);
    expect(await ownedInProd()).toEqual(['ConfigMap settings', 'ConfigMap theirs']);
    await expect
      .poll(orphanEvents)
      .toEqual([
        expect.stringContaining(
          'ConfigMap default/removed, ServiceAccount default/removed. They are listed again',
        ),
      ]);
  });

  it('S2 holds orphans over the delete budget with the reason, and a revert takes them back', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `many-${index + 10}`);
    const all = [SETTINGS, ...names.map((name) => object('ConfigMap', name))];
    const sync = await proven('many', all);
    const before = await uidsInProd();
    await sync.close();
    await deleteInventory();

    const removed = fleet.commitFiles('remove', { [PROD]: SETTINGS });
    await fleet.sync('two');
    await expect.poll(() => fleet.state('prod')).toMatchObject({ commit: removed, state: 'Held' });
    expect((await fleet.state('prod')).message).toMatch(
      /12 of 13 objects of unit web would be deleted.*; 12 were not in the inventory/,
    );
    expect(await uidsInProd()).toEqual(before);

    const back = fleet.commitFiles('back', { [PROD]: all.join(NEXT) });
    await fleet.allProven(back);
    expect(await uidsInProd()).toEqual(before);
  });
});

async function proven(subject: string, objects: readonly string[]): Promise<Sync> {
  fleet.commit('1', 'first');
  const commit = fleet.commitFiles(subject, { [PROD]: objects.join(NEXT) });
  await fleet.pipeline();
  const sync = await fleet.sync('one');
  await fleet.allProven(commit);
  return sync;
}

function object(kind: string, name: string): string {
  const data = kind === 'ConfigMap' ? 'data: {version: "1"}\n' : '';
  return `apiVersion: v1\nkind: ${kind}\nmetadata: {name: ${name}, namespace: default}\n${data}`;
}

/** As `kubectl get -o yaml | kubectl create` does. */
async function copyLabels(from: string, to: string): Promise<void> {
  const { client } = fleet.clusters.prod;
  const { metadata } = await client.get(CONFIG_MAPS, { name: from, namespace: 'default' });
  const { labels = {}, annotations = {} } = metadata;
  const copy = { name: to, namespace: 'default', labels, annotations };
  await client.create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: copy });
}

async function deleteInventory(): Promise<void> {
  const { client } = fleet.clusters.prod;
  const { items } = await client.list(CONFIG_MAPS, { namespace: NAMESPACE });
  const inventory = items.filter(({ metadata }) => metadata.name.startsWith('inventory'));
  expect(inventory.length).toBeGreaterThan(1);
  for (const { metadata } of inventory) {
    const { name, uid = '' } = metadata;
    await client.delete(CONFIG_MAPS, { name, namespace: NAMESPACE }, { uid });
  }
}

async function uidsInProd(): Promise<readonly (string | undefined)[]> {
  const { items } = await fleet.clusters.prod.client.list(CONFIG_MAPS, { labelSelector: LABEL_HUB });
  return items.map(({ metadata }) => `${metadata.name} ${metadata.uid}`).toSorted();
}

async function ownedInProd(): Promise<readonly string[]> {
  const lists = [CONFIG_MAPS, ACCOUNTS].map(async (resource) => {
    const { items } = await fleet.clusters.prod.client.list(resource, { labelSelector: LABEL_HUB });
    return items.map(({ metadata }) => `${resource.kind} ${metadata.name}`);
  });
  return (await Promise.all(lists)).flat().toSorted();
}

async function orphanEvents(): Promise<readonly (string | undefined)[]> {
  const { items } = await fleet.hub.client.list(EVENTS);
  const found = items.filter((event) => textAt(event, 'reason') === 'SyncOrphansFound');
  return found.map((event) => textAt(event, 'note'));
}
