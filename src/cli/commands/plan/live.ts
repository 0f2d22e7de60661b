/** Previews a commit on each cluster of the hub by dry run, where the user has the permission. */

import { CLUSTERS, PIPELINES } from '../../../api/generated/resources.ts';
import type { Cluster, Pipeline } from '../../../api/generated/types.ts';
import { createCallWindow } from '../../../defender/facts/call-window.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { runConcurrently } from '../../../kube/process/run-concurrently.ts';
import { messageOf } from '../../../os/errors.ts';
import { systemRandom } from '../../../os/system-random.ts';
import { CLUSTER_SCOPE } from '../../../sync/apply/inventory/config-maps.ts';
import { readClusterUID } from '../../../sync/cluster-uid.ts';
import { hubScope, scopedToHub } from '../../../sync/hub-scope.ts';
import { type LivePreviewOptions, previewDeletes, previewLive } from '../../../sync/preview/live.ts';
import {
  abandonedTarget,
  compareCommits,
  type PreviewLimits,
  type TargetPreview,
  type UnitPreview,
  withHubScope,
} from '../../../sync/preview/preview.ts';
import { managedClusters, removedClusters } from '../../../sync/promote/cluster/registration.ts';
import { judgingPipeline } from '../../../sync/promote/gates/in-force.ts';
import { strictestBudget } from '../../../sync/promote/gates/strictest.ts';
import { claimClusters } from '../../../sync/promote/stage/membership.ts';
import { declaredClusters, emptyTargetFor, HUB_TARGET, type Rendered } from '../../../sync/rendered.ts';
import { type ConnectionFlags, connectFrom } from '../../connection.ts';
import { connectBySecret, SILENT_LOG } from '../../fleet/connect-cluster.ts';
import type { Io } from '../../io.ts';
import { printWarnings } from '../../output.ts';
import { hubNotes } from './hub-notes.ts';
import { livePermitWarnings } from './live-permits.ts';
import { type ClusterConnection, readRollouts } from './rollouts/read.ts';

export interface PreviewSides {
  readonly from: Rendered | undefined;
  readonly to: Rendered;
  readonly limits: PreviewLimits;
  /** The Pipeline that the commit is promoted by. Default: the only one of the hub. */
  readonly pipeline?: string | undefined;
}

/** Compares commit to commit, without reading a cluster. */
export function compareSides({ from, to, limits, pipeline }: PreviewSides): TargetPreview[] {
  return pipeline === undefined
    ? compareCommits(from, to, limits)
    : compareCommits(withHubScope(from, pipeline), withHubScope(to, pipeline), limits);
}

/**
 * Previews the change on each cluster of the hub. The user may not be allowed to write objects of the hub itself: what is written to it is
 * compared commit to commit, and what is deleted is read from its inventory.
 */
export async function previewOnClusters(
  io: Io,
  flags: ConnectionFlags,
  sides: PreviewSides,
): Promise<readonly TargetPreview[]> {
  const { to } = sides;
  const hub = await openHub(io, flags);
  if (typeof hub === 'string') return compareSides(sides).map((target) => ({ ...target, because: hub }));
  const pipeline = sides.pipeline ?? onlyPipeline(hub);
  printWarnings(io, hubNotes(hub, pipeline, io.clock.now()));
  const limits = limitsInForce(hub, pipeline, sides.limits);
  const byCommits = [...compareSides({ ...sides, limits, pipeline })];
  const abandoned = abandonedClusters(hub, to, pipeline);
  const named = new Set(byCommits.map(({ target }) => target));
  const others = ownClusters(hub, pipeline).filter((name) => !named.has(name));
  try {
    // Concurrently: a cluster that does not answer must not delay the others.
    const [previews, leftovers] = await Promise.all([
      runConcurrently(byCommits, previewUnlessAbandoned),
      runConcurrently(others.map(withoutContent), previewUnlessAbandoned),
    ]);
    // Of a cluster that neither commit names, only what earlier commits left in it is of interest.
    return [...previews, ...leftovers.filter(({ by, units }) => by === 'live' && units.length > 0)];
  } finally {
    await hub.client.close();
  }

  async function previewUnlessAbandoned(preview: TargetPreview): Promise<TargetPreview> {
    return abandoned.has(preview.target) ? abandonedTarget(preview.target) : previewTarget(preview);
  }

  async function previewTarget(preview: TargetPreview): Promise<TargetPreview> {
    const rendered = to.targets.find((one) => one.target === preview.target);
    const target = rendered ?? emptyTargetFor(preview.target);
    if (typeof hub === 'string' || !target) return preview;
    const input = { byCommits: preview, commit: to.commit, limits };
    if (preview.target === HUB_TARGET) {
      return pipeline === undefined
        ? preview
        : previewOnHub(io, hub, pipeline, { ...input, target: scopedToHub(target, pipeline) });
    }
    const cluster = hub.clusters.find(({ metadata }) => metadata.name === preview.target);
    if (cluster) return previewOnCluster(io, hub, cluster, { ...input, target });
    return rendered
      ? { ...preview, because: 'the cluster is not in the hub yet' }
      : { ...preview, units: [], because: 'the cluster is not in the hub' };
  }
}

/** Lists the clusters in the hub that are not in the commit any more. */
function abandonedClusters(
  { clusters }: Hub,
  to: Rendered,
  pipeline: string | undefined,
): ReadonlySet<string> {
  if (pipeline === undefined) return new Set();
  const declared = declaredClusters(to);
  return removedClusters(managedClusters(pipeline, clusters), {
    id: to.commit,
    ...optional('clusters', declared),
  });
}

function withoutContent(target: string): TargetPreview {
  return { target, by: 'commits', units: [] };
}

interface Hub extends ClusterConnection {
  readonly uid: string;
  readonly clusters: readonly Cluster[];
  readonly pipelines: readonly Pipeline[];
}

/**
 * Returns the limits that apply: the stricter of those in force in the hub and those of the last commit, because an earlier commit may
 * still be rolling out.
 */
function limitsInForce(
  { pipelines }: Hub,
  pipeline: string | undefined,
  limits: PreviewLimits,
): PreviewLimits {
  const found = pipelines.find(({ metadata }) => metadata.name === pipeline);
  if (!found) return limits;
  const { deleteBudget, forceManagers } = judgingPipeline(found).pipeline.spec;
  return {
    ...limits,
    budget: strictestBudget(deleteBudget, limits.budget),
    forceManagers: (limits.forceManagers ?? []).filter((name) => forceManagers.includes(name)),
  };
}

function onlyPipeline({ pipelines }: Hub): string | undefined {
  return pipelines.length === 1 ? pipelines[0]?.metadata.name : undefined;
}

/** Returns the names of the clusters that the Pipeline promotes to. */
function ownClusters({ clusters, pipelines }: Hub, pipeline: string | undefined): string[] {
  return claimClusters(clusters, pipelines)
    .filter(({ selectedBy }) => pipeline !== undefined && selectedBy.includes(pipeline))
    .map(({ cluster }) => cluster.metadata.name);
}

/** Opens the hub, or returns the reason why it cannot be used. */
async function openHub(io: Io, flags: ConnectionFlags): Promise<Hub | string> {
  let client: Client | undefined;
  try {
    const calls = createCallWindow(io.clock);
    client = await connectFrom(io, flags, (report) => calls.add(report));
    const { items: clusters } = await client.list<Cluster>(CLUSTERS, { signal: io.signal });
    const pipelines = await listPipelines(client, io.signal);
    const uid = await readClusterUID(client, io.signal);
    return { client, calls, uid, clusters, pipelines };
  } catch (error) {
    await client?.close();
    return `the hub could not be read: ${messageOf(error)}`;
  }
}

/** Lists the Pipelines. Empty for a user who may read Clusters only: the repository usually declares its Pipeline. */
async function listPipelines(client: Client, signal: AbortSignal): Promise<readonly Pipeline[]> {
  try {
    return (await client.list<Pipeline>(PIPELINES, { signal })).items;
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return [];
    throw error;
  }
}

async function previewOnHub(
  io: Io,
  hub: Hub,
  pipeline: string,
  input: ClusterPreviewInput,
): Promise<TargetPreview> {
  const { byCommits } = input;
  try {
    const scope = hubScope(pipeline);
    const found = await previewDeletes(
      liveOptions(io, hub, { ...input, client: hub.client, scope, clusterUID: hub.uid }),
    );
    return {
      ...byCommits,
      units: withLiveDeletes(byCommits.units, found),
      because: 'only its deletes are read from the hub',
    };
  } catch (error) {
    return { ...byCommits, because: messageOf(error) };
  }
}

function withLiveDeletes(units: readonly UnitPreview[], live: readonly UnitPreview[]): UnitPreview[] {
  const written = units.map(({ unit, changes }) => ({
    unit,
    changes: changes.filter(({ action }) => action !== 'delete'),
  }));
  const names = [...new Set([...units, ...live].map(({ unit }) => unit))].toSorted(byCode);
  return names.flatMap((unit) => {
    const found = live.find((one) => one.unit === unit);
    const changes = [...written, ...live].filter((one) => one.unit === unit).flatMap((one) => one.changes);
    const hold = found?.hold ? { hold: found.hold } : {};
    return changes.length > 0 || found?.hold ? [{ unit, changes, ...hold }] : [];
  });
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
    return { target: byCommits.target, by: 'live', ...(await readClusterPreview(io, hub, cluster, input)) };
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return { ...byCommits, because: error.message };
    const because = messageOf(error);
    return { target: byCommits.target, by: 'unknown', because, units: [] };
  }
}

async function readClusterPreview(
  io: Io,
  hub: Hub,
  cluster: Cluster,
  input: ClusterPreviewInput,
): Promise<Pick<TargetPreview, 'units' | 'rollouts'>> {
  const connection = await connectAsSync(io, hub, cluster);
  const { client } = connection;
  try {
    const clusterUID = await readClusterUID(client, io.signal);
    const options = liveOptions(io, hub, { ...input, client, scope: CLUSTER_SCOPE, clusterUID });
    const { units, ...change } = await previewLive(options);
    printWarnings(io, await livePermitWarnings(client, input.target, io.signal));
    return { units, ...optional('rollouts', await readRollouts(io, connection, change)) };
  } finally {
    if (client !== hub.client) await client.close();
  }
}

function liveOptions(
  { clock, signal }: Io,
  { uid }: Hub,
  input: ClusterPreviewInput & Pick<LivePreviewOptions, 'client' | 'scope' | 'clusterUID'>,
): LivePreviewOptions {
  const { client, clusterUID, scope, target, commit, limits } = input;
  const what = { client, clusterUID, scope, target, commit, limits };
  return { ...what, hub: uid, clock, log: SILENT_LOG, random: systemRandom, signal };
}

async function connectAsSync(io: Io, hub: Hub, cluster: Cluster): Promise<ClusterConnection> {
  if (cluster.spec.connection?.inCluster) return hub;
  const calls = createCallWindow(io.clock);
  const client = await connectBySecret(io, hub.client, cluster, (report) => calls.add(report));
  return { client, calls };
}
