/** A workload cluster that is its own management cluster, as Cluster API finds it, with the templates of the providers of tests. */
import { readFile } from 'node:fs/promises';
import { CLUSTER_API_GROUP } from '../../../src/controllers/following/clusterapi/contract.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { NAMESPACES, SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import type { Resource } from '../../../src/kube/objects/object.ts';
import type { ApiServer } from '../control-plane.ts';
import {
  BOOTSTRAP_API_VERSION,
  BOOTSTRAP_TEMPLATES,
  createInfraCluster,
  createInfraMachine,
  INFRA_API_VERSION,
  INFRA_CLUSTERS,
  INFRA_MACHINES,
  INFRA_TEMPLATES,
} from './infrastructure.ts';

export const WORKLOAD_NAMESPACE = 'fleet';
export const THEIR_API_VERSION = `${CLUSTER_API_GROUP}/v1beta2`;
export const THEIR_MACHINES = theirKind('Machine');
export const DEPLOYMENTS = theirKind('MachineDeployment');
export const HEALTH_CHECKS = theirKind('MachineHealthCheck');

export function theirKind(kind: string): Resource {
  return {
    group: CLUSTER_API_GROUP,
    version: 'v1beta2',
    kind,
    plural: `${kind.toLowerCase()}s`,
    namespaced: true,
  };
}

export interface WorkloadCluster {
  createTheirs(
    resource: Resource,
    name: string,
    spec: object,
    labels?: Readonly<Record<string, string>>,
  ): Promise<void>;
  createTemplate(name: string, spec: object): Promise<void>;
  /** Machines with a label of its name, from the template `small`, one replaced at a time. */
  createDeployment(name: string, version: string, replicas: number, configRef?: object): Promise<void>;
}

/** Creates Cluster `c` with its kubeconfig, its templates, and a control plane machine of this version. */
export async function createWorkloadCluster(
  { client, kubeconfig, url }: Pick<ApiServer, 'client' | 'kubeconfig' | 'url'>,
  version: string,
): Promise<WorkloadCluster> {
  const cluster = { createTheirs, createTemplate, createDeployment };
  await client.create(NAMESPACES, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: WORKLOAD_NAMESPACE },
  });
  const { hostname, port } = new URL(url);
  const endpoint = { host: hostname, port: Number(port) };
  await createInfraCluster(client, { namespace: WORKLOAD_NAMESPACE, name: 'c' }, endpoint);
  const infra = { apiGroup: INFRA_CLUSTERS.group, kind: INFRA_CLUSTERS.kind, name: 'c' };
  await createTheirs(theirKind('Cluster'), 'c', { infrastructureRef: infra });
  await createKubeconfig(client, kubeconfig);
  await createTemplate('small', { size: 'small' });
  await client.create(BOOTSTRAP_TEMPLATES, {
    apiVersion: BOOTSTRAP_API_VERSION,
    kind: BOOTSTRAP_TEMPLATES.kind,
    metadata: { namespace: WORKLOAD_NAMESPACE, name: 'plain' },
    spec: { template: { spec: {} } },
  });
  await createControlPlane();
  return cluster;

  /** The first Machine with this label and a Node makes the control plane initialized for Cluster API. */
  async function createControlPlane(): Promise<void> {
    const name = 'control-plane';
    await createInfraMachine(client, { namespace: WORKLOAD_NAMESPACE, name });
    const infrastructureRef = { apiGroup: INFRA_MACHINES.group, kind: INFRA_MACHINES.kind, name };
    const spec = {
      clusterName: 'c',
      version: `v${version}`,
      bootstrap: { dataSecretName: 'none' },
      infrastructureRef,
    };
    await createTheirs(THEIR_MACHINES, name, spec, { 'cluster.x-k8s.io/control-plane': '' });
  }

  async function createTheirs(
    resource: Resource,
    name: string,
    spec: object,
    labels: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const metadata = { namespace: WORKLOAD_NAMESPACE, name, labels };
    await client.create(resource, { apiVersion: THEIR_API_VERSION, kind: resource.kind, metadata, spec });
  }

  async function createTemplate(name: string, spec: object): Promise<void> {
    await client.create(INFRA_TEMPLATES, {
      apiVersion: INFRA_API_VERSION,
      kind: INFRA_TEMPLATES.kind,
      metadata: { namespace: WORKLOAD_NAMESPACE, name },
      spec: { template: { spec } },
    });
  }

  async function createDeployment(
    name: string,
    of: string,
    replicas: number,
    configRef: object = PLAIN,
  ): Promise<void> {
    const labels = { pool: 'general', deployment: name };
    await createTheirs(DEPLOYMENTS, name, {
      clusterName: 'c',
      replicas,
      selector: { matchLabels: labels },
      rollout: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } },
      template: {
        metadata: { labels },
        spec: {
          clusterName: 'c',
          version: `v${of}`,
          bootstrap: { configRef },
          infrastructureRef: infraRef('small'),
        },
      },
    });
  }
}

/** The template of bootstrap configs without content. */
const PLAIN = { apiGroup: BOOTSTRAP_TEMPLATES.group, kind: BOOTSTRAP_TEMPLATES.kind, name: 'plain' };

async function createKubeconfig(client: Client, path: string): Promise<void> {
  const labels = { 'cluster.x-k8s.io/cluster-name': 'c' };
  await client.create(SECRETS, {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'cluster.x-k8s.io/secret',
    metadata: { namespace: WORKLOAD_NAMESPACE, name: 'c-kubeconfig', labels },
    data: { value: (await readFile(path)).toString('base64') },
  });
}

export function infraRef(name: string): object {
  const { group: apiGroup, kind } = INFRA_TEMPLATES;
  return { apiGroup, kind, name };
}
