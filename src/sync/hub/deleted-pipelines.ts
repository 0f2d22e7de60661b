/**
 * Records that clusters are not synced any more once the hub has no Pipeline left. While there is one, promotion writes the status
 * of all clusters. Here the holder of the Lease of each cluster does.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Cluster } from '../../api/generated/types.ts';
import { truncateToSchema } from '../../api/validation/truncate-to-schema.ts';
import { createLoop } from '../../kube/controller/loop.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import { ownStatus } from '../promote/cluster/status.ts';
import type { HubStore } from '../promote/ports.ts';
import type { ClusterWorkers } from './cluster-workers.ts';
import { deletedPipelineStatus } from './deleted-pipeline-status.ts';

export interface DeletedPipelinesOptions {
  readonly hub: Pick<HubStore, 'pipelines' | 'clusters' | 'applyClusterStatus'>;
  readonly clusters: Pick<ClusterWorkers, 'isHeld' | 'fence'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface DeletedPipelines {
  /** Starts a round: a Pipeline, a Cluster or a Lease has changed. Returns at once. */
  refresh(): void;
  /** Resolves after the last write. */
  close(): Promise<void>;
}

const GATHER_MS = 100;
/** Every change triggers a round; the delay is for what failed. */
const RETRY_MS = 15_000;

export function createDeletedPipelines({
  hub,
  clusters,
  clock,
  log,
}: DeletedPipelinesOptions): DeletedPipelines {
  const loop = createLoop({ clock, gatherMs: GATHER_MS, round });
  return { refresh: () => loop.trigger(), close: () => loop.close() };

  async function round(): Promise<number> {
    try {
      if ((await hub.pipelines()).length > 0) return RETRY_MS;
      for (const cluster of await hub.clusters()) await record(cluster);
    } catch (error) {
      log.warn('deleted pipelines not recorded', { error });
    }
    return RETRY_MS;
  }

  async function record(cluster: Cluster): Promise<void> {
    const { name } = cluster.metadata;
    const status = clusters.isHeld(name) ? deletedPipelineStatus(cluster, clock.now()) : undefined;
    if (!status) return;
    const changed = truncateToSchema({ ...cluster, status });
    if (isDeepStrictEqual(ownStatus(cluster.status), changed.status)) return;
    try {
      await hub.applyClusterStatus(changed, () => clusters.fence(name));
    } catch (error) {
      log.warn('cluster status not written', { cluster: name, error });
    }
  }
}
