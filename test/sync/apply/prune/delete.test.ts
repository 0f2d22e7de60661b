import { describe, expect, it } from 'vitest';
import type { Client } from '../../../../src/kube/client/client.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { confirmDeleted, deleteOwned } from '../../../../src/sync/apply/prune/delete.ts';
import { createFakeCluster, type FakeCluster } from '../fake-cluster.ts';
import {
  APPLIED_BY_SYNC,
  configMap,
  entry,
  HUB,
  live,
  namespace,
  OTHER_HUB,
  OTHER_UNIT,
  terminating,
  withLabels,
} from '../fixtures.ts';

const a = configMap('a');
const target = entry(a);
const adopted = { ...a, metadata: { ...a.metadata, annotations: { 'kubenode.dev/adopted': 'true' } } };
const kept = { ...a, metadata: { ...a.metadata, annotations: { 'kubenode.dev/prune': 'Never' } } };

async function clusterWith(...objects: readonly KubeObject[]): Promise<FakeCluster> {
  const cluster = createFakeCluster();
  const { client } = cluster.process();
  const resource = await client.resourceFor('v1', 'ConfigMap');
  for (const object of objects) await client.create(resource, object);
  return cluster;
}

function contextOf(cluster: FakeCluster, more: Partial<Client> = {}): { client: Client; hub: string } {
  return { client: { ...cluster.process().client, ...more }, hub: HUB };
}

describe('deleteOwned', () => {
  it('S4 deletes an object with our labels, by its UID and resourceVersion', async () => {
    const cluster = await clusterWith(live(a));
    const { client } = cluster.process();
    const preconditions: unknown[] = [];
    const context = contextOf(cluster, {
      delete: (resource, name, options) => {
        preconditions.push(options);
        return client.delete(resource, name, options);
      },
    });
    expect(await deleteOwned(context, target)).toEqual({ outcome: 'deleted' });
    expect(cluster.objects.size).toBe(0);
    expect(preconditions).toEqual([{ uid: 'uid-1', resourceVersion: '1', propagation: 'Background' }]);
  });

  it.each([
    ['has no owner labels', a, 'nobody'],
    ['belongs to another hub', withLabels(live(a), OTHER_HUB), 'other-hub'],
    ['belongs to another unit', withLabels(live(a), OTHER_UNIT), 'other-unit'],
    ['is annotated to be kept', live(kept), 'kubenode.dev/prune: Never'],
  ] as const)('S4 refuses an object that %s', async (_name, object, because) => {
    const cluster = await clusterWith(object);
    expect(await deleteOwned(contextOf(cluster), target)).toEqual({
      outcome: 'refused',
      because: expect.stringContaining(because) as string,
    });
    expect(cluster.deleted).toEqual([]);
  });

  it.each([
    ['deletes what git declares again', { uid: 'uid-1', replaces: true }, 'deleted'],
    ['keeps another object of that name', { uid: 'uid-0', replaces: true }, 'refused'],
    ['keeps what git no longer declares', { uid: 'uid-1' }, 'refused'],
  ] as const)('S4 of objects whose labels somebody removed %s', async (_name, how, outcome) => {
    const cluster = await clusterWith({
      ...a,
      metadata: { ...a.metadata, managedFields: APPLIED_BY_SYNC },
    });
    expect(await deleteOwned(contextOf(cluster), { ...target, ...how })).toMatchObject({ outcome });
  });

  it.each([
    ['that another client created', live(adopted)],
    ['with copied labels', { ...live(a), metadata: { ...live(a).metadata, managedFields: [] } }],
  ])('S4 never deletes an object %s', async (_name, object) => {
    const cluster = await clusterWith(object);
    expect(await deleteOwned(contextOf(cluster), target)).toMatchObject({ outcome: 'not ours' });
    expect(cluster.deleted).toEqual([]);
  });

  it('S4 refuses an object that changed between read and delete', async () => {
    const cluster = await clusterWith(live(a));
    const { client } = cluster.process();
    const [{ metadata }] = [...cluster.objects.values()] as [KubeObject];
    const context = contextOf(cluster, {
      delete: async (resource, name, options) => {
        await client.replace(resource, { ...live(configMap('a', { key: 'changed' })), metadata });
        return client.delete(resource, name, options);
      },
    });
    expect(await deleteOwned(context, target)).toMatchObject({ outcome: 'refused' });
    expect(cluster.deleted).toEqual([]);
  });

  it('reports an object that is not found as deleted', async () => {
    expect(await deleteOwned(contextOf(await clusterWith()), target)).toEqual({ outcome: 'deleted' });
  });

  it('waits for an object that is being deleted', async () => {
    expect(await deleteOwned(contextOf(await clusterWith(terminating(a))), target)).toEqual({
      outcome: 'terminating',
      because: 'being deleted since 2030-01-01T00:00:00Z, finalizers x/y',
      keptByOthers: true,
    });
  });
});

describe('confirmDeleted', () => {
  it.each([
    ['an object that is not found', [], undefined, 'deleted'],
    ['an object with another UID', [a], 'another', 'deleted'],
    ['an object that is being deleted', [terminating(a)], 'uid-1', 'terminating'],
    ['an object with our labels that is not observed yet', [live(a)], 'uid-1', 'refused'],
    ['an object without our labels', [a], 'uid-1', 'not ours'],
    ['an object of another hub', [withLabels(live(a), OTHER_HUB)], undefined, 'not ours'],
  ] as const)(
    'S1 confirms a delete only when the object is not found: %s',
    async (_name, objects, uid, outcome) => {
      expect(await confirmDeleted(contextOf(await clusterWith(...objects)), target, uid)).toMatchObject({
        outcome,
      });
    },
  );

  it('confirms a delete when the kind cannot have an object under that identity', async () => {
    const cluster = await clusterWith(namespace('web'));
    const nowhere = entry({ ...namespace('web'), metadata: { name: 'web', namespace: 'default' } });
    expect(await confirmDeleted(contextOf(cluster), nowhere)).toEqual({ outcome: 'deleted' });
    expect(cluster.objects.size).toBe(1);
  });
});
