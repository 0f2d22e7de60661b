import { describe, expect, it } from 'vitest';
import { DEFENDER_POLICIES } from '../../../../src/api/generated/resources.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { KubeError } from '../../../../src/kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../../src/kube/objects/object.ts';
import type { SyncContext, SyncTarget } from '../../../../src/sync/apply/context.ts';
import { openInventory } from '../../../../src/sync/apply/inventory/store.ts';
import {
  isSearchDue,
  unwatchedOrphans,
  watchedOrphans,
} from '../../../../src/sync/apply/prune/find-orphans.ts';
import { type SyncResult, syncCluster } from '../../../../src/sync/apply/sync-cluster.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { type VirtualClock, virtualClock } from '../../../support/virtual-clock.ts';
import { createFakeCluster, type FakeCluster } from '../fake-cluster.ts';
import { COMMIT, configMap, HUB, live, OLD_COMMIT, unit } from '../fixtures.ts';

const KEPT = configMap('kept');
const GONE = configMap('removed');
const ACCOUNT: KubeObject = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'removed', namespace: 'default' },
};
const LIMITS: KubeObject = {
  apiVersion: 'kubenode.dev/v1alpha1',
  kind: 'DefenderPolicy',
  metadata: { name: 'limits' },
};
const FOREIGN = { ...live(configMap('foreign')), data: { key: 'theirs' } };

describe('syncCluster without its inventory', () => {
  it('lists orphans again and prunes them, also of kinds that git no longer declares', async () => {
    const cluster = await clusterWithoutInventory();
    const events: string[] = [];
    const { pruned } = await sync(cluster, { units: [unit('web', [KEPT])], events });
    expect(pruned).toEqual({ deleted: 2, marked: 0, waiting: [] });
    expect(namesIn(cluster)).toEqual(['foreign', 'kept']);
    expect(events).toEqual([
      expect.stringContaining('ConfigMap default/removed, ServiceAccount default/removed'),
    ]);
  });

  it('S2 holds orphans over the delete budget, and deletes none of them', async () => {
    const cluster = await clusterWithoutInventory();
    const budget = { maxObjects: 1, maxPercent: 0 };
    const { pruned, plan } = await sync(cluster, { units: [unit('web', [KEPT])], budget });
    expect(plan.holds).toHaveLength(1);
    expect(pruned.deleted).toBe(0);
    expect(namesIn(cluster)).toEqual(['foreign', 'kept', 'removed', 'removed']);
  });

  it('S24 deletes no limit in a rollback, also when only its labels tell that it is ours', async () => {
    const cluster = await clusterWithoutInventory([KEPT, GONE, LIMITS]);
    const { plan } = await sync(cluster, { units: [unit('web', [KEPT])], isRollback: true });
    expect(namesIn(cluster)).toEqual(['foreign', 'kept', 'limits']);
    expect(plan.paused).toMatchObject([{ name: 'object DefenderPolicy/limits', removed: 1 }]);
  });

  it('lists an object that moved to another unit in the same commit, and takes it along', async () => {
    const cluster = await clusterWithoutInventory();
    await sync(cluster, { units: [unit('web', [KEPT]), unit('other', [GONE])] });
    expect(namesIn(cluster)).toEqual(['foreign', 'kept', 'removed']);
    expect(cluster.objects.get('ConfigMap default/removed')?.metadata.labels).toMatchObject({
      'kubenode.dev/unit': 'other',
    });
  });
});

describe('watchedOrphans', () => {
  it('reads each version of an object once', async () => {
    const { context, target } = await contextOf(await clusterWithoutInventory());
    let reads = 0;
    const counting: Client = {
      ...context.client,
      get: (resource, name) => {
        reads += 1;
        return context.client.get(resource, name);
      },
    };
    const observe = (): Promise<unknown> =>
      watchedOrphans({ ...context, client: counting }, target, context.store.inventory());
    const first = await observe();
    const afterFirst = reads;
    expect(await observe()).toEqual(first);
    expect(reads).toBe(afterFirst);
  });
});

describe('unwatchedOrphans', () => {
  it.each([
    ['once where kinds may not be listed', new KubeError('Forbidden', 'no', { status: 403 }), false],
    [
      'again after five minutes where a kind could not be read',
      new KubeError('ServerError', 'down', { status: 503 }),
      true,
    ],
  ] as const)('searches %s', async (_, error, isDueAgain) => {
    const { context, target, clock } = await contextOf(await clusterWithoutInventory());
    const pages: Client['pages'] = () => {
      throw error;
    };
    expect(isSearchDue(context, false)).toBe(true);
    expect(await unwatchedOrphans({ ...context, client: { ...context.client, pages } }, target)).toEqual([]);
    expect(isSearchDue(context, true)).toBe(false);
    await clock.advance(300_000);
    expect(isSearchDue(context, true)).toBe(isDueAgain);
  });
});

/** Sync applied three objects, another client copied their labels to a fourth, and a person deleted the inventory. */
async function clusterWithoutInventory(objects = [KEPT, GONE, ACCOUNT]): Promise<FakeCluster> {
  const cluster = createFakeCluster();
  await sync(cluster, { commit: OLD_COMMIT, units: [unit('web', objects)] });
  const { client } = cluster.process();
  const inventory = [...cluster.objects.values()].filter(({ metadata }) =>
    metadata.name.startsWith('inventory'),
  );
  for (const { kind, apiVersion, metadata } of inventory) {
    const { name, namespace = '', uid = '' } = metadata;
    await client.delete(await client.resourceFor(apiVersion, kind), { name, namespace }, { uid });
  }
  const { uid: _, managedFields: __, resourceVersion: ___, ...copied } = FOREIGN.metadata;
  await client.create(await client.resourceFor('v1', 'ConfigMap'), { ...FOREIGN, metadata: copied });
  return cluster;
}

interface Run extends Partial<SyncTarget> {
  readonly events?: string[];
}

async function sync(cluster: FakeCluster, { events = [], ...desired }: Run): Promise<SyncResult> {
  const { context, target } = await contextOf(cluster, desired);
  return syncCluster({ ...context, recordEvent: ({ message }) => events.push(message) }, target);
}

async function contextOf(
  cluster: FakeCluster,
  desired: Partial<SyncTarget> = {},
): Promise<{ context: SyncContext; target: SyncTarget; clock: VirtualClock }> {
  const process = cluster.process();
  const { units = [unit('web', [KEPT])] } = desired;
  const client: Client = { ...process.client, resources: async () => KINDS };
  const clock = virtualClock();
  // As a watch of the kinds that git declares.
  const owned = (): readonly KubeObject[] => process.live.owned().filter(({ kind }) => isDeclared(kind));
  const context: SyncContext = {
    client,
    live: { ...process.live, owned },
    store: await openInventory(client, { clusterUID: 'cluster-uid', scope: '', epoch: () => 1 }),
    hub: HUB,
    scope: '',
    clock,
    log: memoryLog(),
    serverForms: new Map(),
    applied: async () => undefined,
    signal: new AbortController().signal,
  };
  const budget = { maxObjects: 10, maxPercent: 20 };
  const rest = { commit: COMMIT, digest: 'sha256:d', budget, acknowledgements: [] };
  return { context, clock, target: { ...rest, units, ...desired } };

  function isDeclared(kind: string): boolean {
    return units.some(({ objects }) => objects.some(({ object }) => object.kind === kind));
  }
}

const KINDS: readonly Resource[] = [
  ...['ConfigMap', 'ServiceAccount', 'Secret'].map((kind) => ({
    group: '',
    version: 'v1',
    kind,
    plural: `${kind.toLowerCase()}s`,
    namespaced: true,
  })),
  DEFENDER_POLICIES,
];

function namesIn({ objects }: FakeCluster): string[] {
  const names = [...objects.values()].map(({ metadata }) => metadata.name);
  return names.filter((name) => !name.startsWith('inventory')).toSorted();
}
