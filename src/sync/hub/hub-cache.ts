/** The hub's objects in memory: watched, and never older than our own last write. */
import { CLUSTERS, PIPELINES, RELEASES } from '../../api/generated/resources.ts';
import type { Cluster, Pipeline, Release } from '../../api/generated/types.ts';
import { MANAGER_SYNC, NAMESPACE } from '../../api/names.ts';
import { staleReason } from '../../kube/cache/freshness.ts';
import { createReflector, type Reflector } from '../../kube/cache/reflector.ts';
import { createStore, type Store, type WritableStore } from '../../kube/cache/store.ts';
import type { Client, WriteOptions } from '../../kube/client/client.ts';
import { isKubeError, KubeError } from '../../kube/client/errors.ts';
import { SECRETS } from '../../kube/objects/core-kinds.ts';
import { byCode } from '../../kube/objects/digest.ts';
import type { KubeObject, Resource } from '../../kube/objects/object.ts';
import type { Log } from '../../kube/process/log.ts';
import type { WatchMetrics } from '../../kube/process/metrics-runtime.ts';
import type { Clock } from '../../os/clock.ts';
import type { HubStore, WriteFence } from '../promote/ports.ts';
import { asked, type SeparateWrites, separateWrites, withoutManagedFields } from './separate-writes.ts';

export interface HubCacheOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly metrics?: WatchMetrics;
}

export interface HubCache extends HubStore, SeparateWrites {
  readonly stores: {
    readonly clusters: Store<Cluster>;
    readonly pipelines: Store<Pipeline>;
    readonly releases: Store<Release>;
    /** The Secrets in the namespace kubenode-system: kubeconfigs, and credentials of repositories. */
    readonly secrets: Store;
  };
  /** Watches until the signal is aborted; never rejects. */
  run(signal: AbortSignal): Promise<void>;
  synced(signal: AbortSignal): Promise<void>;
  /** Why the cached objects must not be used; undefined when they are fresh. */
  staleReason(): string | undefined;
}

const STATUS_OPTIONS = { fieldManager: MANAGER_SYNC, force: true, subresource: 'status' };

export function createHubCache(options: HubCacheOptions): HubCache {
  const { client, log } = options;
  const stores = {
    clusters: createStore<Cluster>({ log }),
    pipelines: createStore<Pipeline>({ log }),
    releases: createStore<Release>({ log, indexers: { pipeline: ({ spec }) => [spec.pipeline] } }),
    secrets: createStore({ log }),
  };
  const watches: readonly (readonly [Resource, Reflector])[] = [
    [CLUSTERS, createReflector<Cluster>({ ...options, resource: CLUSTERS, store: stores.clusters })],
    [PIPELINES, createReflector<Pipeline>({ ...options, resource: PIPELINES, store: stores.pipelines })],
    [RELEASES, createReflector<Release>({ ...options, resource: RELEASES, store: stores.releases })],
    [
      SECRETS,
      createReflector({ ...options, resource: SECRETS, store: stores.secrets, namespace: NAMESPACE }),
    ],
  ];

  return {
    stores,
    run: async (signal) => void (await Promise.all(watches.map(([, watch]) => watch.run(signal)))),
    synced: async (signal) => void (await Promise.all(watches.map(([, watch]) => watch.synced(signal)))),
    staleReason: hubStaleReason,
    pipeline: async (name) => fresh(stores.pipelines).get(name),
    pipelines: async () => sortByName(fresh(stores.pipelines).list()),
    clusters: async () => sortByName(fresh(stores.clusters).list()),
    releasesOf: async (pipeline) => sortByName(fresh(stores.releases).byIndex('pipeline', pipeline)),
    applyClusterStatus: (cluster, fence) => applyStatus([CLUSTERS, stores.clusters], cluster, fence),
    applyPipelineStatus: (pipeline, fence) => applyStatus([PIPELINES, stores.pipelines], pipeline, fence),
    applyReleaseStatus: (release, fence) => applyStatus([RELEASES, stores.releases], release, fence),
    ...separateWrites(client, stores),
    createRelease,
    deleteRelease,
  };

  function hubStaleReason(): string | undefined {
    return watches.map(([resource, watch]) => staleReason(watch.freshness(), resource.plural)).find(Boolean);
  }

  /** Throws rather than return incomplete or outdated objects. */
  function fresh<T extends KubeObject>(objects: Store<T>): Store<T> {
    const reason = hubStaleReason();
    if (reason !== undefined) {
      throw new KubeError('Unreachable', `the cache of the hub ${client.server} is stale: ${reason}`);
    }
    return objects;
  }

  async function applyStatus<T extends KubeObject>(
    [resource, store]: readonly [Resource, WritableStore<T>],
    object: T,
    fence: WriteFence | undefined,
  ): Promise<void> {
    const { apiVersion, kind, metadata } = object;
    const { name, resourceVersion } = metadata;
    const intent = {
      apiVersion,
      kind,
      metadata: { name, ...(resourceVersion ? { resourceVersion } : {}) },
      status: object['status'],
    };
    const applied = await client.apply<T>(resource, intent, { ...STATUS_OPTIONS, ...asked(fence) });
    store.put(withoutManagedFields(applied));
  }

  async function createRelease(release: Release, fence?: WriteFence): Promise<void> {
    try {
      const created = await client.create<Release>(RELEASES, release, createOptions(fence));
      stores.releases.put(withoutManagedFields(created));
    } catch (error) {
      if (!isKubeError(error, 'AlreadyExists')) throw error;
      const existing = await client.get<Release>(RELEASES, { name: release.metadata.name });
      stores.releases.put(withoutManagedFields(existing));
    }
  }

  async function deleteRelease(release: Release, fence?: WriteFence): Promise<void> {
    const { name, uid = '' } = release.metadata;
    try {
      await client.delete(RELEASES, { name }, { uid, ...asked(fence) });
    } catch (error) {
      // It was recreated in the meantime: the watch brings the new one.
      if (isKubeError(error, 'Conflict')) return;
      if (!isKubeError(error, 'NotFound')) throw error;
    }
    stores.releases.remove(release);
  }
}

function createOptions(fence: WriteFence | undefined): WriteOptions {
  return { fieldManager: MANAGER_SYNC, ...asked(fence) };
}

function sortByName<T extends KubeObject>(objects: readonly T[]): readonly T[] {
  return objects.toSorted((a, b) => byCode(a.metadata.name, b.metadata.name));
}
