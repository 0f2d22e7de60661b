/** The hub as the holder of one Lease writes it: each write asks the fence as it leaves. */
import type { HubStore, WriteFence } from './ports.ts';

export function fencedHub(hub: HubStore, fence: WriteFence): HubStore {
  return {
    pipeline: (name) => hub.pipeline(name),
    pipelines: () => hub.pipelines(),
    clusters: () => hub.clusters(),
    holds: () => hub.holds?.() ?? [],
    releasesOf: (pipeline) => hub.releasesOf(pipeline),
    applyClusterStatus: (cluster) => hub.applyClusterStatus(cluster, fence),
    applyPipelineStatus: (pipeline) => hub.applyPipelineStatus(pipeline, fence),
    applyReleaseStatus: (release) => hub.applyReleaseStatus(release, fence),
    createRelease: (release) => hub.createRelease(release, fence),
    deleteRelease: (release) => hub.deleteRelease(release, fence),
  };
}
