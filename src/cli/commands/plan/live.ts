/** Previews a commit on each cluster of the hub by dry run, where the user has the permission. */

import { CLUSTERS } from '../../../api/generated/resources.ts';
import type { Cluster } from '../../../api/generated/types.ts';
import { NAMESPACE } from '../../../api/names.ts';
import { createStore } from '../../../kube/cache/store.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { SECRETS } from '../../../kube/objects/core-kinds.ts';
import { systemRandom } from '../../../os/system-random.ts';
import { CLUSTER_SCOPE } from '../../../sync/apply/inventory/store.ts';
import { readClusterUID } from '../../../sync/cluster-uid.ts';
import { connectCluster, credentialsOf } from '../../../sync/hub/connection.ts';
import { previewLive } from '../../../sync/preview/live.ts';
import type { PreviewLimits, TargetPreview, UnitPreview } from '../../../sync/preview/preview.ts';
import { HUB_TARGET, type Rendered } from '../../../sync/rendered.ts';
import { runConcurrently } from '../../../sync/run-concurrently.ts';
import { type ConnectionFlags, connectFrom } from '../../connection.ts';
import type { Io } from '../../io.ts';

export interface LivePreviewInput {
  readonly to: Rendered;
  readonly byCommits: readonly TargetPreview[];
  readonly limits: PreviewLimits;
}

/** Objects of the hub itself are compared commit to commit: only their Pipeline knows which of them it owns. */
export async function previewOnClusters(
  io: Io,
  flags: ConnectionFlags,
  { to, byCommits, limits }: LivePreviewInput,
): Promise<readonly TargetPreview[]> {
  const hub = await openHub(io, flags);
  if (typeof hub === 'string') return byCommits.map((target) => ({ ...target, because: hub }));
  try {
    // Concurrently: a cluster that does not answer must not delay the others.
    return await runConcurrently(byCommits, (preview) => previewTarget(hub, preview));
  } finally {
    await hub.client.close();
  }

  async function previewTarget(from: Hub, preview: TargetPreview): Promise<TargetPreview> {
    const target = to.targets.find((one) => one.target === preview.target);
    if (!target || preview.target === HUB_TARGET) return preview;
    const cluster = from.clusters.find(({ metadata }) => metadata.name === preview.target);
    if (!cluster) return { ...preview, because: 'the cluster is not in the hub yet' };
    return previewOnCluster(io, from, cluster, { byCommits: preview, target, commit: to.commit, limits });
  }
}

interface Hub {
  readonly client: Client;
  readonly uid: string;
  readonly clusters: readonly Cluster[];
}

/** The open hub, or the reason why it cannot be used. */
async function openHub(io: Io, flags: ConnectionFlags): Promise<Hub | string> {
  let client: Client | undefined;
  try {
    client = await connectFrom(io, flags);
    const { items } = await client.list<Cluster>(CLUSTERS, { signal: io.signal });
    const uid = await readClusterUID(client, io.signal);
    return { client, uid, clusters: items };
  } catch (error) {
    await client?.close();
    return `the hub could not be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

interface ClusterPreviewInput {
  readonly byCommits: TargetPreview;
  readonly target: Rendered['targets'][number];
  readonly commit: string;
  readonly limits: PreviewLimits;
}

async function previewOnCluster(
  io: Io,
  hub: Hub,
  cluster: Cluster,
  input: ClusterPreviewInput,
): Promise<TargetPreview> {
  const { byCommits } = input;
  try {
    return { target: byCommits.target, by: 'live', units: await readUnitPreviews(io, hub, cluster, input) };
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return { ...byCommits, because: error.message };
    const because = error instanceof Error ? error.message : String(error);
    return { target: byCommits.target, by: 'unknown', because, units: [] };
  }
}

async function readUnitPreviews(
  io: Io,
  hub: Hub,
  cluster: Cluster,
  input: ClusterPreviewInput,
): Promise<UnitPreview[]> {
  const { target, commit, limits } = input;
  const client = await connectAsSync(io, hub, cluster);
  try {
    const uid = await readClusterUID(client, io.signal);
    return await previewLive({
      client,
      clusterUID: uid,
      hub: hub.uid,
      scope: CLUSTER_SCOPE,
      target,
      commit,
      limits,
      clock: io.clock,
      log: SILENT_LOG,
      random: systemRandom,
      signal: io.signal,
    });
  } finally {
    if (client !== hub.client) await client.close();
  }
}

/** Connects with the credentials that sync uses. */
async function connectAsSync({ clock }: Io, hub: Hub, cluster: Cluster): Promise<Client> {
  const secrets = createStore({ log: SILENT_LOG });
  const ref = credentialsOf(cluster);
  if (ref) secrets.put(await hub.client.get(SECRETS, { name: ref.name, namespace: NAMESPACE }));
  return connectCluster(cluster, { secrets, clock, connectHub: async () => hub.client });
}

const SILENT_LOG = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => SILENT_LOG,
};
