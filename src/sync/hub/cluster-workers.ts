/** One worker and one Lease for each Cluster of the hub, begun and ended as the objects come and go. */

import type { Cluster } from '../../api/generated/types.ts';
import { NAMESPACE } from '../../api/names.ts';
import type { Store } from '../../kube/cache/store.ts';
import type { Client } from '../../kube/client/client.ts';
import type { CallReport } from '../../kube/client/request.ts';
import { createHeldLease, type HeldLease } from '../../kube/leader/held-lease.ts';
import type { Log } from '../../kube/process/log.ts';
import type { LeaseMetrics, WatchMetrics } from '../../kube/process/metrics-runtime.ts';
import type { Clock } from '../../os/clock.ts';
import type { ApplyPolicy, ClusterAssignment } from '../apply/cluster-syncer.ts';
import { CLUSTER_SCOPE } from '../apply/inventory/store.ts';
import { type ClusterWorker, createClusterWorker } from '../apply/worker.ts';
import type { ClusterWorkersPort } from '../promote/ports.ts';
import { connectCluster, connectionVersion } from './connection.ts';

export interface ClusterWorkersOptions {
  readonly hub: Client;
  readonly hubUID: string;
  readonly connectHub: (fence?: () => void) => Promise<Client>;
  readonly clusters: Store<Cluster>;
  readonly secrets: Store;
  readonly policy: (pipeline: string) => ApplyPolicy;
  readonly identity: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly metrics?: LeaseMetrics & WatchMetrics;
  readonly onCall?: (report: CallReport) => void;
  readonly onReport: () => void;
}

export interface ClusterWorkers extends Pick<ClusterWorkersPort, 'report'> {
  setTarget(cluster: string, assignment: ClusterAssignment): void;
  /** Starts and stops workers to match the Cluster objects. */
  refresh(): void;
  close(): Promise<void>;
}

interface Running {
  readonly worker: ClusterWorker;
  readonly lease: HeldLease;
  version: string;
}

export function createClusterWorkers(options: ClusterWorkersOptions): ClusterWorkers {
  const running = new Map<string, Running>();
  const ending = new Set<Promise<void>>();

  return {
    setTarget: (cluster, assignment) => running.get(cluster)?.worker.setTarget(assignment),
    report: (cluster) => running.get(cluster)?.worker.report(),
    refresh,
    async close() {
      for (const name of running.keys()) end(name);
      await Promise.all(ending);
    },
  };

  function refresh(): void {
    const names = new Set(options.clusters.list().map(({ metadata }) => metadata.name));
    for (const name of running.keys()) if (!names.has(name)) end(name);
    for (const name of names) keep(name);
  }

  function keep(name: string): void {
    const cluster = options.clusters.get(name);
    if (!cluster) return;
    const version = connectionVersion(cluster, options.secrets);
    const known = running.get(name);
    if (!known) running.set(name, { ...begin(name), version });
    else if (known.version !== version) {
      known.version = version;
      known.worker.reconnect();
    }
  }

  function begin(name: string): Pick<Running, 'worker' | 'lease'> {
    const { hub, clock, random, identity, metrics, onReport } = options;
    const log = options.log.with({ cluster: name });
    const lease = createHeldLease({
      client: hub,
      name: `cluster-${name}`,
      namespace: NAMESPACE,
      identity,
      clock,
      random,
      log,
      ...(metrics ? { metrics } : {}),
      onChange: () => worker.requeue(),
    });
    const worker = createClusterWorker({
      cluster: name,
      hub: options.hubUID,
      scope: CLUSTER_SCOPE,
      connect: (fence) => connectNow(name, fence),
      pinnedUID: () => pinnedUID(options.clusters.get(name)),
      writeBlockedReason: () => lease.notHeldReason(),
      policy: options.policy,
      clock,
      log,
      random,
      onReport,
      ...(metrics ? { metrics } : {}),
    });
    return { worker, lease };
  }

  async function connectNow(name: string, fence: () => void): Promise<Client> {
    const cluster = options.clusters.get(name);
    if (!cluster) throw new Error(`Cluster ${name} is not in the hub any more`);
    return connectCluster(cluster, { ...options, fence });
  }

  function end(name: string): void {
    const known = running.get(name);
    if (!known) return;
    running.delete(name);
    // The right to write goes only after the last write.
    const done = known.worker
      .close()
      .then(() => known.lease.close())
      .finally(() => ending.delete(done));
    ending.add(done);
  }
}

/** What git says, else what was found at the first contact. */
function pinnedUID(cluster: Cluster | undefined): string | undefined {
  return cluster?.spec.clusterUID ?? cluster?.status?.clusterUID;
}
