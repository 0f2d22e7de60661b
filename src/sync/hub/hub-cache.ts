/** The hub's objects as sync sees them: watched, and never older than our own last write. */

import { CLUSTERS, PIPELINES, RELEASES } from '../../api/generated/resources.ts';
import type { Cluster, Pipeline, Release } from '../../api/generated/types.ts';
import { MANAGER_SYNC, NAMESPACE } from '../../api/names.ts';
import { staleReason } from '../../kube/cache/freshness.ts';
import { createReflector, type Reflector } from '../../kube/cache/reflector.ts';
import { createStore, type Store, type WritableStore } from '../../kube/cache/store.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError, KubeError } from '../../kube/client/errors.ts';
import { SECRETS } from '../../kube/objects/core-kinds.ts';
import { byCode } from '../../kube/objects/digest.ts';
import type { KubeObject, Resource } from '../../kube/objects/object.ts';
import type { Log } from '../../kube/process/log.ts';
import type { WatchMetrics } from '../../kube/process/metrics-runtime.ts';
import type { Clock } from '../../os/clock.ts';
import type { HubStore } from '../promote/ports.ts';

export interface HubCacheOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly metrics?: WatchMetrics;
}

export interface HubCache extends HubStore {
  readonly stores: {
    readonly clusters: Store<Cluster>;
    readonly pipelines: Store<Pipeline>;
    readonly releases: Store<Release>;
    /** Of the namespace kubenode-system: kubeconfigs and credentials of repositories. */
    readonly secrets: Store;
  };
  /** Watches until the signal; never rejects. */
  run(signal: AbortSignal): Promise<void>;
  synced(signal: AbortSignal): Promise<void>;
  /** Why what is seen may not be believed, or nothing. */
  stale(): string | undefined;
}

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
    stale,
    pipeline: async (name) => believed(stores.pipelines).get(name),
    pipelines: async () => sorted(believed(stores.pipelines).list()),
    clusters: async () => sorted(believed(stores.clusters).list()),
    releasesOf: async (pipeline) => sorted(believed(stores.releases).byIndex('pipeline', pipeline)),
    applyClusterStatus: (cluster) => applyStatus(CLUSTERS, stores.clusters, cluster),
    applyPipelineStatus: (pipeline) => applyStatus(PIPELINES, stores.pipelines, pipeline),
    applyReleaseStatus: (release) => applyStatus(RELEASES, stores.releases, release),
    createRelease,
    deleteRelease,
  };

  function stale(): string | undefined {
    return watches.map(([resource, watch]) => staleReason(watch.freshness(), resource.plural)).find(Boolean);
  }

  /** Rejects rather than pass a part, or the past, off as the present. */
  function believed<T extends KubeObject>(objects: Store<T>): Store<T> {
    const because = stale();
    if (because !== undefined) {
      throw new KubeError('Unreachable', `the hub ${client.server} is not seen: ${because}`);
    }
    return objects;
  }

  async function applyStatus<T extends KubeObject>(
    resource: Resource,
    into: WritableStore<T>,
    object: T,
  ): Promise<void> {
    const { apiVersion, kind, metadata } = object;
    const { name, resourceVersion } = metadata;
    const intent = {
      apiVersion,
      kind,
      metadata: { name, ...(resourceVersion ? { resourceVersion } : {}) },
      status: object['status'],
    };
    const how = { fieldManager: MANAGER_SYNC, force: true, subresource: 'status' };
    into.put(trimmed(await client.apply<T>(resource, intent, how)));
  }

  async function createRelease(release: Release): Promise<void> {
    try {
      stores.releases.put(
        trimmed(await client.create<Release>(RELEASES, release, { fieldManager: MANAGER_SYNC })),
      );
    } catch (error) {
      if (!isKubeError(error, 'AlreadyExists')) throw error;
      stores.releases.put(trimmed(await client.get<Release>(RELEASES, { name: release.metadata.name })));
    }
  }

  async function deleteRelease(release: Release): Promise<void> {
    const { name, uid = '' } = release.metadata;
    try {
      await client.delete(RELEASES, { name }, { uid });
    } catch (error) {
      // Another one stands in its place: the watch tells which.
      if (isKubeError(error, 'Conflict')) return;
      if (!isKubeError(error, 'NotFound')) throw error;
    }
    stores.releases.remove(release);
  }
}

function sorted<T extends KubeObject>(objects: readonly T[]): readonly T[] {
  return objects.toSorted((a, b) => byCode(a.metadata.name, b.metadata.name));
}

function trimmed<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
