/** Clusters of a hub on a real API server, with the status that sync would write. */
import { CLUSTERS, PIPELINES } from '../../../src/api/generated/resources.ts';
import type { ClusterStatus, ClusterSync } from '../../../src/api/generated/types.ts';
import { MANAGER_SYNC } from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';

const clock = createSystemClock();

/** A hub with Pipeline fleet. */
export async function startHub(): Promise<InstalledServer> {
  const installed = await startInstalledServer();
  const stages = [{ name: 'test', clusterSelector: { all: true } }];
  const source = { repository: 'https://git.example.com/fleet' };
  const pipeline = {
    apiVersion: API_VERSION,
    kind: PIPELINES.kind,
    metadata: { name: 'fleet' },
    spec: { source, stages },
  };
  await installed.server.client.apply(PIPELINES, pipeline, { fieldManager: MANAGER_SYNC });
  return installed;
}

export async function declareCluster(client: Client, name: string, sync: ClusterSync): Promise<void> {
  const spec = { environment: 'test', connection: { inCluster: true } };
  const object = { apiVersion: API_VERSION, kind: CLUSTERS.kind, metadata: { name }, spec };
  await client.apply(CLUSTERS, object, { fieldManager: MANAGER_SYNC, force: true });
  await reportCluster(client, name, sync);
}

export async function reportCluster(
  client: Client,
  name: string,
  sync: ClusterSync,
  status: Partial<ClusterStatus> = {},
): Promise<void> {
  const since = clock.now().toISOString();
  const assigned = { pipeline: 'fleet', mode: 'Apply' };
  const whole = { conditions: [], assigned, ...status, sync: { since, ...sync } };
  const object = { apiVersion: API_VERSION, kind: CLUSTERS.kind, metadata: { name }, status: whole };
  await client.apply(CLUSTERS, object, { fieldManager: MANAGER_SYNC, force: true, subresource: 'status' });
}
