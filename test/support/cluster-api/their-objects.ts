/** Machines and Clusters of Cluster API as its managers leave them, where these do not run. */
import { resourceOf } from '../../../src/api/install/objects.ts';
import { CLUSTER_API_GROUP } from '../../../src/controllers/following/clusterapi/contract.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { waitUntilServed } from '../../../src/kube/client/served.ts';
import { NAMESPACES } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { clusterApiCrds } from './crds.ts';
import { THEIR_API_VERSION, THEIR_MACHINES, theirKind, WORKLOAD_NAMESPACE } from './workload-cluster.ts';

export const THEIR_CLUSTERS = theirKind('Cluster');

export async function serveClusterApi(client: Client): Promise<void> {
  for (const crd of await clusterApiCrds()) {
    await client.apply(resourceOf(crd), crd, { fieldManager: 'clusterctl' });
    const { spec } = crd as KubeObject & { readonly spec: { readonly names: { readonly kind: string } } };
    const served = { apiVersion: `${CLUSTER_API_GROUP}/v1beta2`, kind: spec.names.kind };
    await waitUntilServed(client, createSystemClock(), served, AbortSignal.timeout(60_000));
  }
}

export async function createTheirNamespace(client: Client): Promise<void> {
  const metadata = { name: WORKLOAD_NAMESPACE };
  await client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata });
}

export async function createTheirCluster(client: Client, name: string): Promise<void> {
  await client.create(THEIR_CLUSTERS, {
    apiVersion: THEIR_API_VERSION,
    kind: THEIR_CLUSTERS.kind,
    metadata: { namespace: WORKLOAD_NAMESPACE, name },
    spec: { controlPlaneEndpoint: { host: 'api.example.com', port: 6443 } },
  });
}

/** `md-ID` of this Cluster on instance `inst://ID`, whose Node is `node-ID`. */
export async function createTheirMachine(client: Client, id: string, clusterName = 'c'): Promise<KubeObject> {
  const name = `md-${id}`;
  await client.create(THEIR_MACHINES, {
    apiVersion: THEIR_API_VERSION,
    kind: THEIR_MACHINES.kind,
    metadata: { namespace: WORKLOAD_NAMESPACE, name, labels: { pool: 'general' } },
    spec: {
      clusterName,
      failureDomain: 'zone-a',
      providerID: `inst://${id}`,
      bootstrap: { dataSecretName: 'none' },
      infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'DevMachine', name },
    },
  });
  const target = { namespace: WORKLOAD_NAMESPACE, name };
  const body = { status: { nodeRef: { name: `node-${id}` } } };
  return await client.patch(THEIR_MACHINES, target, { type: 'merge', body }, { subresource: 'status' });
}
