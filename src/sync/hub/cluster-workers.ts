/** Runs one worker and one Lease for each Cluster of the hub. */
import type { Cluster, CorrectedDrift } from '../../api/generated/types.ts';
import { NAMESPACE } from '../../api/names.ts';
import type { Store } from '../../kube/cache/store.ts';
import type { Client } from '../../kube/client/client.ts';
import type { CallReport } from '../../kube/client/request.ts';
import { createHeldLease, type HeldLease } from '../../kube/leader/held-lease.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Log } from '../../kube/process/log.ts';
import type { LeaseMetrics, WatchMetrics } from '../../kube/process/metrics-runtime.ts';
import type { SyncTimes } from '../../observability/metrics/sync.ts';
import type { Clock } from '../../os/clock.ts';
import type { CommitOrigin } from '../apply/audit/apply-audit.ts';
import type { ApplyPolicy } from '../apply/cluster-syncer.ts';
import { type ClusterWorker, createClusterWorker } from '../apply/cluster-worker.ts';
import type { ClusterEvent } from '../apply/context.ts';
import { CLUSTER_SCOPE } from '../apply/inventory/config-maps.ts';
import type { ClusterAssignment, ClusterReport } from '../cluster-report.ts';
import type { DecryptionKeys } from '../decrypt-objects.ts';
import { joinDrift } from '../drift-history.ts';
import type { ClusterWorkersPort } from '../promote/ports.ts';
import { rollbackOrigin } from './commit-origin.ts';
import { connectCluster, connectionVersion } from './connection.ts';
import type { KeptRevisions } from './revisions/kept-revisions.ts';
import { createWorkerSet } from './worker-set.ts';

type CommitOriginOf = (pipeline: string, commit: string) => CommitOrigin;

export interface ClusterWorkersOptions {
  readonly hub: Client;
  readonly hubUID: string;
  readonly connectHub: (fence?: () => void) => Promise<Client>;
  readonly clusters: Store<Cluster>;
  readonly secrets: Store;
  readonly policy: (pipeline: string) => ApplyPolicy;
  readonly keys: (pipeline: string) => DecryptionKeys;
  readonly origin?: CommitOriginOf;
  /** Keeps what the clusters ran. Without it nothing is kept, and a rollback is read from git. */
  readonly revisions?: KeptRevisions;
  readonly identity: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly metrics?: LeaseMetrics & WatchMetrics;
  readonly onCall?: (report: CallReport) => void;
  readonly recordEvent?: (cluster: string, event: ClusterEvent) => void;
  readonly times?: Pick<SyncTimes, 'driftCorrected'>;
  readonly onReport: (cluster: string) => void;
  /** Is called after a Lease was acquired or lost. */
  readonly onLease: () => void;
}

export interface ClusterWorkers extends Pick<ClusterWorkersPort, 'report'> {
  setTarget(cluster: string, assignment: ClusterAssignment): void;
  /** Tells whether this process may write to the cluster. */
  isHeld(cluster: string): boolean;
  /** Throws unless this process may write to the cluster at this moment. */
  fence(cluster: string): void;
  /** Returns the process that holds the Lease of the cluster, as last observed. */
  holder(cluster: string): string | undefined;
  /** Starts and stops workers to match the Cluster objects. */
  refresh(): void;
  close(): Promise<void>;
}

interface LeasedClusterWorker extends Pick<ClusterWorkers, 'close'> {
  setTarget(assignment: ClusterAssignment): void;
  report: ClusterWorker['report'];
  readonly lease: HeldLease;
  /** Reconnects when the address or the credentials of the Cluster have changed. */
  refresh(): void;
}

export function createClusterWorkers(options: ClusterWorkersOptions): ClusterWorkers {
  const workers = createWorkerSet(start);
  return {
    setTarget: (cluster, assignment) =>
      workers.get(cluster)?.setTarget(options.revisions?.serve(cluster, assignment) ?? assignment),
    report: (cluster) => withRevisions(workers.get(cluster)?.report(), options.revisions?.list(cluster)),
    isHeld(cluster) {
      const worker = workers.get(cluster);
      return worker !== undefined && worker.lease.notHeldReason() === undefined;
    },
    fence(cluster) {
      const worker = workers.get(cluster);
      if (!worker) throw new Error(`Cluster ${cluster} is no longer in the hub`);
      worker.lease.fence();
    },
    holder: (cluster) => workers.get(cluster)?.lease.holder(),
    refresh() {
      const names = options.clusters.list().map(({ metadata }) => metadata.name);
      workers.refresh(names);
      options.revisions?.retain(names);
      for (const worker of workers.all()) worker.refresh();
    },
    close: () => workers.close(),
  };

  function start(name: string): LeasedClusterWorker {
    const { hub, clock, random, identity, metrics, onReport } = options;
    const log = options.log.with({ cluster: name });
    const shared = { clock, random, log, ...(metrics ? { metrics } : {}) };
    let version = versionOf(name);
    const lease = createHeldLease({
      ...shared,
      client: hub,
      name: `cluster-${name}`,
      namespace: NAMESPACE,
      identity,
      onChange() {
        worker.leaseChanged();
        options.onLease();
      },
    });
    const worker = createClusterWorker({
      ...shared,
      cluster: name,
      hub: options.hubUID,
      scope: CLUSTER_SCOPE,
      connect: (fence) => connect(name, fence),
      pinnedUID: () => pinnedUID(options.clusters.get(name)),
      recordedDrift: () => recordedDrift(options.clusters.get(name)),
      ...optional('times', options.times),
      lease,
      policy: options.policy,
      keys: options.keys,
      ...optional('origin', originIn(options, name)),
      onReport: () => onReport(name),
      recordEvent: (event) => options.recordEvent?.(name, event),
    });
    return {
      setTarget: (assignment) => worker.setTarget(assignment),
      report: () => worker.report(),
      lease,
      refresh() {
        const current = versionOf(name);
        if (current === version) return;
        version = current;
        worker.reconnect();
      },
      close: () => closeLeased(worker, lease),
    };
  }

  function versionOf(name: string): string {
    const cluster = options.clusters.get(name);
    return cluster ? connectionVersion(cluster, options.secrets) : '';
  }

  async function connect(name: string, fence: () => void): Promise<Client> {
    const cluster = options.clusters.get(name);
    if (!cluster) throw new Error(`Cluster ${name} is no longer in the hub`);
    return connectCluster(cluster, { ...options, fence });
  }
}

/** The Lease is released only after the last write. */
async function closeLeased(worker: ClusterWorker, lease: HeldLease): Promise<void> {
  await worker.close();
  await lease.close();
}

function withRevisions(
  report: ClusterReport | undefined,
  revisions: ClusterReport['revisions'],
): ClusterReport | undefined {
  return report && { ...report, ...optional('revisions', revisions) };
}

/** Adds who rolled the cluster back to the commit. */
function originIn(
  { origin, clusters }: Pick<ClusterWorkersOptions, 'origin' | 'clusters'>,
  name: string,
): CommitOriginOf | undefined {
  return (
    origin &&
    ((pipeline, commit) => ({
      ...origin(pipeline, commit),
      ...rollbackOrigin(clusters.get(name), commit),
    }))
  );
}

/** Returns the UID that git declares, or else the one observed at the first contact. */
function pinnedUID(cluster: Cluster | undefined): string | undefined {
  return cluster?.spec.clusterUID ?? cluster?.status?.clusterUID;
}

/** Returns the drift that promotion recorded, joined with what this process reported to it. */
function recordedDrift(cluster: Cluster | undefined): CorrectedDrift | undefined {
  return joinDrift(cluster?.status?.sync?.drift, cluster?.status?.report?.drift);
}
