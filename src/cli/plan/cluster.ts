/** Previews a commit on one cluster, with the connection that sync has to it. */
import type { Cluster } from '../../api/generated/types.ts';
import { createCallWindow } from '../../defender/facts/call-window.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import { byCode } from '../../kube/objects/digest.ts';
import { optional } from '../../kube/objects/optional.ts';
import { systemRandom } from '../../os/system-random.ts';
import { CLUSTER_SCOPE } from '../../sync/apply/inventory/config-maps.ts';
import { readClusterUID } from '../../sync/cluster-uid.ts';
import { hubScope } from '../../sync/hub-scope.ts';
import { type LivePreviewOptions, previewDeletes, previewLive } from '../../sync/preview/live.ts';
import type { PreviewLimits, TargetPreview, UnitPreview } from '../../sync/preview/preview.ts';
import type { Rendered } from '../../sync/rendered.ts';
import { connectBySecret, SILENT_LOG } from '../fleet/connect-cluster.ts';
import type { PlanHub } from './hub.ts';
import { livePermitWarnings } from './live-permits.ts';
import { readDeployments } from './machine-deployments.ts';
import type { PlanPorts } from './ports.ts';
import { type RolloutFleet, readRolloutFleet } from './rollouts/fleet.ts';
import { type ClusterConnection, readRollouts } from './rollouts/read.ts';

export async function previewOnHub(
  ports: PlanPorts,
  hub: PlanHub,
  pipeline: string,
  input: ClusterPreviewInput,
): Promise<TargetPreview> {
  const { byCommits } = input;
  try {
    const scope = hubScope(pipeline);
    const found = await previewDeletes(
      liveOptions(ports, hub, { ...input, client: hub.client, scope, clusterUID: hub.uid }),
    );
    return {
      ...byCommits,
      units: withLiveDeletes(byCommits.units, found),
      because: 'only its deletes are read from the hub',
    };
  } catch (error) {
    return { ...byCommits, because: ports.explain(error) };
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

export interface ClusterPreviewInput {
  readonly byCommits: TargetPreview;
  readonly target: Rendered['targets'][number];
  readonly encryptedBefore: ReadonlySet<string>;
  readonly commit: string;
  readonly limits: PreviewLimits;
}

export async function previewOnCluster(
  ports: PlanPorts,
  hub: PlanHub,
  cluster: Cluster,
  input: ClusterPreviewInput,
): Promise<TargetPreview> {
  const { byCommits } = input;
  try {
    return {
      target: byCommits.target,
      by: 'live',
      ...(await readClusterPreview(ports, hub, cluster, input)),
    };
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return { ...byCommits, because: ports.explain(error) };
    const because = ports.explain(error);
    return { target: byCommits.target, by: 'unknown', because, units: [] };
  }
}

async function readClusterPreview(
  ports: PlanPorts,
  hub: PlanHub,
  cluster: Cluster,
  input: ClusterPreviewInput,
): Promise<Pick<TargetPreview, 'units' | 'rollouts' | 'deployments'>> {
  const connection = await connectAsSync(ports, hub, cluster);
  const { client } = connection;
  try {
    const clusterUID = await readClusterUID(client, ports.signal);
    const options = liveOptions(ports, hub, { ...input, client, scope: CLUSTER_SCOPE, clusterUID });
    const { units, ...change } = await previewLive(options);
    ports.warn(await livePermitWarnings(client, input.target, ports));
    let fleet: Promise<RolloutFleet> | undefined;
    const readFleet = (): Promise<RolloutFleet> => (fleet ??= readRolloutFleet(client, ports.signal));
    return {
      units,
      ...optional('rollouts', await readRollouts(ports, connection, { ...change, readFleet })),
      ...optional('deployments', await readDeployments(ports, client, { ...change, readFleet })),
    };
  } finally {
    if (client !== hub.client) await client.close();
  }
}

function liveOptions(
  { clock, signal }: PlanPorts,
  { uid }: PlanHub,
  input: ClusterPreviewInput & Pick<LivePreviewOptions, 'client' | 'scope' | 'clusterUID'>,
): LivePreviewOptions {
  const { client, clusterUID, scope, target, encryptedBefore, commit, limits } = input;
  const what = { client, clusterUID, scope, target, encryptedBefore, commit, limits };
  return { ...what, hub: uid, clock, log: SILENT_LOG, random: systemRandom, signal };
}

async function connectAsSync(ports: PlanPorts, hub: PlanHub, cluster: Cluster): Promise<ClusterConnection> {
  if (cluster.spec.connection?.inCluster) return hub;
  const calls = createCallWindow(ports.clock);
  const client = await connectBySecret(ports, hub.client, cluster, (report) => calls.add(report));
  return { client, calls };
}
