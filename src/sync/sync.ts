/**
 * Sync in one process: many Pipelines and many clusters, one Lease for each. The process that holds a Lease does the work;
 * a second process waits and takes over.
 */
import { PIPELINES } from '../api/generated/resources.ts';
import type { Cluster, Pipeline } from '../api/generated/types.ts';
import { GROUP } from '../api/names.ts';
import type { Client } from '../kube/client/client.ts';
import type { CallReport } from '../kube/client/request.ts';
import { createEventRecorder, type EventRecorder } from '../kube/events/recorder.ts';
import { optional } from '../kube/objects/optional.ts';
import type { Log } from '../kube/process/log.ts';
import type { EventMetrics, LeaseMetrics, WatchMetrics } from '../kube/process/metrics-runtime.ts';
import type { SyncTimes } from '../observability/metrics/sync.ts';
import type { TraceExporter } from '../observability/trace/otlp/exporter.ts';
import type { Clock } from '../os/clock.ts';
import type { CheckRunner } from '../rollout/checks/runner.ts';
import type { CommitOrigin } from './apply/audit/apply-audit.ts';
import type { ApplyPolicy } from './apply/cluster-syncer.ts';
import type { ClusterEvent } from './apply/context.ts';
import { readClusterUID } from './cluster-uid.ts';
import type { DecryptionKeys } from './decrypt-objects.ts';
import { haltedByFleet } from './fleetlimits/halted-hub.ts';
import { createFleetLimits, type FleetLimits } from './fleetlimits/worker.ts';
import { type ClusterWorkers, createClusterWorkers } from './hub/cluster-workers.ts';
import { commitOrigin } from './hub/commit-origin.ts';
import { decryptionKeys } from './hub/decryption-keys.ts';
import { createDeletedPipelines, type DeletedPipelines } from './hub/deleted-pipelines.ts';
import { createHubCache, type HubCache } from './hub/hub-cache.ts';
import { applyPolicyOf } from './hub/pipeline/apply-policy.ts';
import { createPipelineWorkers, type PipelineWorkers } from './hub/pipeline/workers.ts';
import { createKeptRevisions, type KeptRevisions } from './hub/revisions/kept-revisions.ts';
import { type Assignments, createAssignments } from './hub/split-leases/assignments.ts';
import { createPromotionController } from './promote/controller.ts';
import { promotedClusters } from './promote/stage/membership.ts';
import type { PlanCommit } from './pulls/head-plan.ts';
import type { CommitRenderer } from './render/renderer.ts';
import { createChangeTraces } from './report/change-traces.ts';

/** Metrics that the runtime keeps about itself. */
export type SyncCounters = EventMetrics & LeaseMetrics & WatchMetrics;

export interface SyncOptions {
  /** The client calls `fence` as each write leaves; when it throws, nothing is sent. */
  readonly connectHub: (fence?: () => void) => Promise<Client>;
  /** Holder identity of this process in Leases. */
  readonly identity: string;
  /** Renders commits, and checks their objects. */
  readonly renderer: CommitRenderer;
  /** Plans pull requests on the clusters. Default: none is planned. */
  readonly planCommit?: PlanCommit;
  /** Runs the checks of a stage. */
  readonly runner?: CheckRunner;
  /** Cache of repositories. It may be deleted at any time. */
  readonly gitFolder: string;
  /** Where to keep what the clusters ran, for `kubenode rollback`. Default: nothing is kept. */
  readonly keptRevisions?: { readonly folder: string; readonly randomBytes: (bytes: number) => Uint8Array };
  /** Whether this process receives webhooks. Default: it does not. */
  readonly receivesWebhooks?: boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly metrics?: SyncCounters;
  readonly onCall?: (report: CallReport) => void;
  readonly times?: SyncTimes;
  /** Exports the traces of commits. Default: traces are off. */
  readonly traces?: TraceExporter;
}

export interface Sync {
  /** Why sync is not ready now, for the readiness endpoint. */
  notReadyReason(): string | undefined;
  readonly hub: HubCache;
  readonly clusters: ClusterWorkers;
  close(): Promise<void>;
}

/** How long close waits for queued Events to be written. */
const EVENTS_MS = 3000;

/** Rejects when the hub is unreachable or does not serve our kinds. */
export async function startSync(options: SyncOptions, signal: AbortSignal): Promise<Sync> {
  const client = await options.connectHub();
  const closing = new AbortController();
  let watching: Promise<unknown> | undefined;
  const disconnect = async (): Promise<void> => {
    closing.abort();
    await watching;
    await client.close();
  };
  try {
    await client.resourceFor(`${PIPELINES.group}/${PIPELINES.version}`, PIPELINES.kind);
    const hubUID = await readClusterUID(client, signal);
    const hub = createHubCache({ ...options, client });
    watching = hub.run(closing.signal);
    await hub.synced(signal);
    return await startWorkers(options, { client, hub, hubUID }, { disconnect, signal });
  } catch (error) {
    // A watch that went on would keep the process running.
    await disconnect();
    throw error;
  }
}

interface Start {
  readonly disconnect: () => Promise<void>;
  readonly signal: AbortSignal;
}

async function startWorkers(
  options: SyncOptions,
  { client, hub, hubUID }: Omit<Hub, 'events' | 'fleetLimits'>,
  { disconnect, signal }: Start,
): Promise<Sync> {
  const events = createEventRecorder({
    ...options,
    client,
    controller: `${GROUP}/sync`,
    instance: options.identity,
  });
  let workers: Workers | undefined;
  const onPolicy = (): void => workers?.pipelines.requeueAll();
  const fleetLimits = createFleetLimits({ ...options, ...hub.stores, client, hubUID, onPolicy });
  // Before the first promotion, which a stop of the fleet holds.
  await fleetLimits.read(signal);
  workers = createWorkers(options, { client, hub, hubUID, events, fleetLimits });
  const { clusters, pipelines, assignments, deletedPipelines, revisions } = workers;
  refreshOnChange(hub, workers, fleetLimits);
  const { traces: exporter, clock, log } = options;
  const traces =
    exporter &&
    createChangeTraces({ ...hub, exporter, clock, log, isHeld: (name) => pipelines.isHeld(name) });
  return {
    notReadyReason: () => hub.staleReason(),
    hub,
    clusters,
    async close() {
      await traces?.close();
      await pipelines.close();
      await fleetLimits.close();
      // Before the Leases of the clusters are released.
      await deletedPipelines.close();
      await clusters.close();
      await revisions?.close();
      await assignments.close();
      await events.close(AbortSignal.timeout(EVENTS_MS));
      await disconnect();
    },
  };
}

interface Workers {
  readonly clusters: ClusterWorkers;
  readonly pipelines: PipelineWorkers;
  readonly assignments: Assignments;
  readonly deletedPipelines: DeletedPipelines;
  readonly revisions?: KeptRevisions;
}

interface Hub {
  readonly client: Client;
  readonly hub: HubCache;
  readonly hubUID: string;
  readonly events: EventRecorder;
  readonly fleetLimits: FleetLimits;
}

/**
 * The worker of a Pipeline opens its repository and hands its commits to promotion, which sets the target of each cluster with what
 * its commit renders to. docs/architecture.md follows a commit through these files.
 */
function createWorkers(options: SyncOptions, { client, hub, hubUID, events, fleetLimits }: Hub): Workers {
  const { stores } = hub;
  const keys = (name: string): DecryptionKeys =>
    decryptionKeys(name, stores.pipelines.get(name), stores.secrets);
  const policy = (name: string): ApplyPolicy => ({
    ...applyPolicyOf(stores.pipelines.get(name)),
    keysVersion: keys(name).version,
  });
  const origin = (pipeline: string, commit: string): CommitOrigin => commitOrigin(stores, pipeline, commit);
  const revisions =
    options.keptRevisions && createKeptRevisions({ ...options, ...options.keptRevisions, ...stores, hubUID });
  const clusters = createClusterWorkers({
    ...options,
    ...optional('revisions', revisions),
    origin,
    hub: client,
    hubUID,
    clusters: stores.clusters,
    secrets: stores.secrets,
    policy,
    keys,
    recordEvent: (name, event) => recordOn(stores.clusters.get(name), event),
    onReport(name) {
      assignments.writeReport(name);
      assignments.refreshCluster(name);
      pipelines.requeueAll();
    },
    onLease,
  });
  const pipelines: PipelineWorkers = createPipelineWorkers({
    ...options,
    origin,
    receivesWebhooks: options.receivesWebhooks ?? false,
    client,
    hub,
    hubUID,
    policy,
    keys,
    onLease,
    recordEvent: (name, event) => recordOn(stores.pipelines.get(name), event),
    clusterCommits: (pipeline) =>
      promotedClusters(pipeline, stores.clusters.list(), stores.pipelines.list()).flatMap(
        ({ metadata }) => clusters.report(metadata.name)?.commits ?? [],
      ),
    promote: async (name, commits, fence) => (await promotion.reconcile(name, commits, fence)).requeueAt,
    rollBack: (name, commits, fence) => promotion.rollBack(name, commits, fence),
    reportSource: (name, head, fence) => promotion.reportSource(name, head, fence),
  });
  const assignments = createAssignments({ ...options, hub, clusters, pipelines });
  const deletedPipelines = createDeletedPipelines({ ...options, hub, clusters });
  const promotion = createPromotionController({
    hub: haltedByFleet(hub, fleetLimits),
    clusters: {
      setTarget: (cluster, target) => clusters.setTarget(cluster, target),
      report: (cluster) => assignments.report(cluster),
    },
    clock: options.clock,
    log: options.log,
    onCheckResult: (name) => pipelines.get(name)?.requeue(),
    ...optional('runner', options.runner),
    ...optional('times', options.times),
    recordEvent: (about, { message, ...change }) =>
      events.record({ about, action: 'Promote', note: message, ...change }),
  });
  return { clusters, pipelines, assignments, deletedPipelines, ...optional('revisions', revisions) };

  function recordOn(about: Cluster | Pipeline | undefined, { message, ...change }: ClusterEvent): void {
    if (about) events.record({ about, action: 'Apply', note: message, ...change });
  }

  function onLease(): void {
    assignments.refresh();
    assignments.writeReports();
    deletedPipelines.refresh();
  }
}

function refreshOnChange({ stores }: HubCache, workers: Workers, fleetLimits: FleetLimits): void {
  const { clusters, pipelines, assignments, deletedPipelines } = workers;
  const refresh = (): void => {
    clusters.refresh();
    pipelines.refresh();
    assignments.refresh();
    deletedPipelines.refresh();
    fleetLimits.refresh();
    pipelines.requeueAll();
  };
  for (const store of [stores.clusters, stores.secrets, stores.pipelines]) {
    store.subscribe({ added: refresh, updated: refresh, removed: refresh });
  }
  refresh();
}
