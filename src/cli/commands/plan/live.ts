/** Asks each cluster of the hub what a commit would do there, where the person has the right to. */

import { CLUSTERS } from '../../../api/generated/resources.ts';
import type { Cluster } from '../../../api/generated/types.ts';
import { NAMESPACE } from '../../../api/names.ts';
import { createStore } from '../../../kube/cache/store.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { SECRETS } from '../../../kube/objects/core-kinds.ts';
import { CLUSTER_SCOPE } from '../../../sync/apply/inventory/store.ts';
import { runConcurrently } from '../../../sync/apply/run-concurrently.ts';
import { readClusterUID } from '../../../sync/cluster-uid.ts';
import { connectCluster, credentialsOf } from '../../../sync/hub/connection.ts';
import { previewLive } from '../../../sync/preview/live-preview.ts';
import type { Limits, TargetPreview, UnitPreview } from '../../../sync/preview/preview.ts';
import { HUB_TARGET, type Rendered } from '../../../sync/rendered.ts';
import { type ConnectionFlags, connectFrom } from '../../connection.ts';
import type { Io } from '../../io.ts';

export interface Asked {
  readonly to: Rendered;
  readonly byCommits: readonly TargetPreview[];
  readonly limits: Limits;
}

/** The hub's own objects are compared commit with commit: which of them are others' is known to their Pipeline only. */
export async function askClusters(
  io: Io,
  flags: ConnectionFlags,
  { to, byCommits, limits }: Asked,
): Promise<readonly TargetPreview[]> {
  const hub = await reach(io, flags);
  if (typeof hub === 'string') return byCommits.map((target) => ({ ...target, because: hub }));
  try {
    // One that does not answer must not keep the others waiting.
    return await runConcurrently(byCommits, (preview) => ask(hub, preview));
  } finally {
    await hub.client.close();
  }

  async function ask(from: Hub, preview: TargetPreview): Promise<TargetPreview> {
    const target = to.targets.find((one) => one.target === preview.target);
    if (!target || preview.target === HUB_TARGET) return preview;
    const cluster = from.clusters.find(({ metadata }) => metadata.name === preview.target);
    if (!cluster) return { ...preview, because: 'the hub does not know this cluster yet' };
    return askOne(io, from, cluster, { known: preview, target, commit: to.commit, limits });
  }
}

interface Hub {
  readonly client: Client;
  readonly uid: string;
  readonly clusters: readonly Cluster[];
}

/** The hub, or why it is not asked. */
async function reach(io: Io, flags: ConnectionFlags): Promise<Hub | string> {
  let client: Client | undefined;
  try {
    client = await connectFrom(io, flags);
    const { items } = await client.list<Cluster>(CLUSTERS, { signal: io.signal });
    const uid = await readClusterUID(client, io.signal);
    return { client, uid, clusters: items };
  } catch (error) {
    await client?.close();
    return `the hub was not asked: ${error instanceof Error ? error.message : String(error)}`;
  }
}

interface Question {
  readonly known: TargetPreview;
  readonly target: Rendered['targets'][number];
  readonly commit: string;
  readonly limits: Limits;
}

async function askOne(io: Io, hub: Hub, cluster: Cluster, question: Question): Promise<TargetPreview> {
  const { known } = question;
  try {
    return { target: known.target, by: 'live', units: await withCluster(io, hub, cluster, question) };
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return { ...known, because: error.message };
    const because = error instanceof Error ? error.message : String(error);
    return { target: known.target, by: 'unknown', because, units: [] };
  }
}

async function withCluster(io: Io, hub: Hub, cluster: Cluster, question: Question): Promise<UnitPreview[]> {
  const { target, commit, limits } = question;
  const client = await clientFor(io, hub, cluster);
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
    });
  } finally {
    if (client !== hub.client) await client.close();
  }
}

/** With the credentials that sync would use. */
async function clientFor({ clock }: Io, hub: Hub, cluster: Cluster): Promise<Client> {
  const secrets = createStore({ log: SILENT });
  const ref = credentialsOf(cluster);
  if (ref) secrets.put(await hub.client.get(SECRETS, { name: ref.name, namespace: NAMESPACE }));
  return connectCluster(cluster, { secrets, clock, connectHub: async () => hub.client });
}

const SILENT = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => SILENT,
};
