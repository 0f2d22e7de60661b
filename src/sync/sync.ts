/**
 * The whole of sync in one process: many Pipelines, many clusters, one Lease each. Whoever holds a Lease does the work;
 * a second process waits beside it and takes over.
 */

import { PIPELINES } from '../api/generated/resources.ts';
import type { Pipeline } from '../api/generated/types.ts';
import { GROUP } from '../api/names.ts';
import type { Client } from '../kube/client/client.ts';
import type { CallReport } from '../kube/client/request.ts';
import { createEventRecorder, type EventRecorder } from '../kube/events/recorder.ts';
import type { Log } from '../kube/process/log.ts';
import type { EventMetrics, LeaseMetrics, WatchMetrics } from '../kube/process/metrics-runtime.ts';
import type { Clock } from '../os/clock.ts';
import type { CheckRunner } from '../rollout/check-runner.ts';
import type { ApplyPolicy } from './apply/cluster-syncer.ts';
import { clusterUID } from './cluster-uid.ts';
import { type ClusterWorkers, createClusterWorkers } from './hub/cluster-workers.ts';
import { createHubCache, type HubCache } from './hub/hub-cache.ts';
import { createPipelineWorkers, type PipelineWorkers } from './hub/pipeline-workers.ts';
import type { Checks } from './judge/object-checks.ts';
import { promotion as promotionOf } from './promote/controller.ts';
import type { Renderer } from './render/renderer.ts';

/** What the runtime counts about itself, for all of its parts here. */
export type SyncCounters = EventMetrics & LeaseMetrics & WatchMetrics;

export interface SyncOptions {
  readonly connectHub: () => Promise<Client>;
  /** Of this very process, in Leases. */
  readonly identity: string;
  readonly renderer: Renderer;
  /** What a commit is judged by. */
  readonly checks: Checks;
  /** Asks the checks of a stage. */
  readonly runner?: CheckRunner;
  /** Where repositories are kept. A cache: it may be thrown away. */
  readonly gitFolder: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly metrics?: SyncCounters;
  readonly onCall?: (report: CallReport) => void;
}

export interface Sync {
  /** Why it cannot be counted on now, or nothing. */
  notReady(): string | undefined;
  readonly hub: HubCache;
  readonly clusters: ClusterWorkers;
  close(): Promise<void>;
}

/** At the end, Events that cannot be written are given up after this long. */
const EVENTS_MS = 3000;

/** Rejects when the hub cannot be reached, or has not got our kinds. */
export async function startSync(options: SyncOptions, signal: AbortSignal): Promise<Sync> {
  const client = await options.connectHub();
  await client.resourceFor(`${PIPELINES.group}/${PIPELINES.version}`, PIPELINES.kind);
  const hubUID = await clusterUID(client, signal);
  const hub = createHubCache({ ...options, client });
  const closing = new AbortController();
  const watching = hub.run(closing.signal);
  await hub.synced(signal);

  const events = createEventRecorder({
    ...options,
    client,
    controller: `${GROUP}/sync`,
    instance: options.identity,
  });
  const { clusters, pipelines } = fleets(options, { client, hub, hubUID, events });
  follow(hub, clusters, pipelines);
  return {
    notReady: () => hub.stale(),
    hub,
    clusters,
    async close() {
      await pipelines.close();
      await clusters.close();
      await events.close(AbortSignal.timeout(EVENTS_MS));
      closing.abort();
      await watching;
      await client.close();
    },
  };
}

interface Hub {
  readonly client: Client;
  readonly hub: HubCache;
  readonly hubUID: string;
  readonly events: EventRecorder;
}

/** ClusterWorkers ask PipelineWorkers for content, PipelineWorkers tell clusters their targets: they meet here. */
function fleets(
  options: SyncOptions,
  { client, hub, hubUID, events }: Hub,
): { clusters: ClusterWorkers; pipelines: PipelineWorkers } {
  const { stores } = hub;
  const policy = (name: string): ApplyPolicy => policyOf(stores.pipelines.get(name));
  const clusters = createClusterWorkers({
    ...options,
    hub: client,
    hubUID,
    clusters: stores.clusters,
    secrets: stores.secrets,
    content: async (cluster, { pipeline, commit }) =>
      commit ? pipelines.get(pipeline)?.content(cluster, commit) : undefined,
    policy,
    onReport: () => pipelines.wakeAll(),
  });
  const pipelines: PipelineWorkers = createPipelineWorkers({
    ...options,
    client,
    hub,
    hubUID,
    policy,
    inClusters: () =>
      stores.clusters.list().flatMap(({ metadata }) => clusters.report(metadata.name)?.commits ?? []),
    promote: async (name) => (await promotion.reconcile(name)).wakeAt,
  });
  const promotion = promotionOf({
    hub,
    source: {
      accepted: async ({ metadata }, named) =>
        (await pipelines.get(metadata.name)?.accepted(named)) ?? NO_COMMITS,
    },
    clusters,
    clock: options.clock,
    log: options.log,
    onRun: (name) => pipelines.get(name)?.wake(),
    ...(options.runner ? { runner: options.runner } : {}),
    announce: (about, { message, ...change }) =>
      events.record({ about, action: 'Promote', note: message, ...change }),
  });
  return { clusters, pipelines };
}

const NO_COMMITS = {
  commits: [],
  head: { verdict: 'Accepted', unread: 'the Pipeline is not open' },
} as const;

function follow({ stores }: HubCache, clusters: ClusterWorkers, pipelines: PipelineWorkers): void {
  const refresh = (): void => {
    clusters.refresh();
    pipelines.refresh();
    pipelines.wakeAll();
  };
  for (const store of [stores.clusters, stores.secrets, stores.pipelines]) {
    store.subscribe({ added: refresh, updated: refresh, removed: refresh });
  }
  refresh();
}

/** A Pipeline that cannot be read lets nothing be deleted. */
function policyOf(pipeline: Pipeline | undefined): ApplyPolicy {
  if (!pipeline) return { budget: { maxObjects: 0, maxPercent: 0 }, acknowledgements: [] };
  const { deleteBudget, acknowledgements } = pipeline.spec;
  return {
    budget: { maxObjects: deleteBudget?.maxObjects ?? 10, maxPercent: deleteBudget?.maxPercent ?? 20 },
    acknowledgements: acknowledgements ?? [],
  };
}
