/** What the servers contain before the first commit: credentials, permissions, a policy, Clusters and Pipelines. */
import { readFileSync } from 'node:fs';
import { CLUSTERS, PIPELINES } from '../../../../src/api/generated/resources.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { SECRETS } from '../../../../src/kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../../../../src/kube/objects/object.ts';
import { createPrincipal } from '../../../../src/local/pki/principal.ts';
import type { ApiServer } from '../../../support/control-plane.ts';
import { GRANTED_GROUP } from '../../../sync/fuzz/content.ts';

/** The cluster that gets the random commits. */
export const TARGET = 'target';
/** The hub itself as a cluster of another Pipeline: what happens to the target must not hold it up. */
export const NEIGHBOR = 'neighbor';
export const NAMES = [TARGET, NEIGHBOR] as const;
export type ClusterName = (typeof NAMES)[number];

const ENVIRONMENTS: Readonly<Record<ClusterName, string>> = { [TARGET]: 'test', [NEIGHBOR]: 'prod' };

const RBAC = 'rbac.authorization.k8s.io/v1';

export async function prepareTarget({ client }: ApiServer): Promise<void> {
  const resource = (kind: string): Promise<Resource> => client.resourceFor(RBAC, kind);
  await client.create(await resource('ClusterRole'), {
    apiVersion: RBAC,
    kind: 'ClusterRole',
    metadata: { name: 'fuzz' },
    rules: [GRANTED_GROUP, `other.${GRANTED_GROUP}`].map((group) => ({
      apiGroups: [group],
      resources: ['*'],
      verbs: ['*'],
    })),
  });
  await client.create(await resource('ClusterRoleBinding'), {
    apiVersion: RBAC,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'fuzz' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'fuzz' },
    subjects: [
      { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: createPrincipal('kubenode-sync').user },
    ],
  });
  for (const object of DENIAL) {
    await client.create(await client.resourceFor(object.apiVersion, object.kind), object);
  }
}

/** The binding that lets sync read and write the custom kinds. */
export async function rightsOf({ client }: ApiServer): Promise<{ binding: KubeObject; resource: Resource }> {
  const resource = await client.resourceFor(RBAC, 'ClusterRoleBinding');
  return { binding: await client.get(resource, { name: 'fuzz' }), resource };
}

/** Refuses objects with a label, with a message longer than any field of a status. */
const DENIAL: readonly KubeObject[] = [
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'fuzz' },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['configmaps'],
          },
        ],
      },
      validations: [
        {
          expression: `!has(object.metadata.labels) || !('fuzz.example.com/denied' in object.metadata.labels)`,
          message: `denied: ${'a long explanation '.repeat(200)}`,
        },
      ],
    },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'fuzz' },
    spec: { policyName: 'fuzz', validationActions: ['Deny'] },
  },
];

export async function addCredentials(hub: ApiServer, name: ClusterName, server: ApiServer): Promise<void> {
  const kubeconfig = readFileSync(await server.kubeconfigFor(createPrincipal('kubenode-sync')));
  await hub.client.create(SECRETS, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: `${name}-kubeconfig`,
      namespace: 'kubenode-system',
      annotations: { 'kubenode.dev/secret-use': 'kubeconfig' },
    },
    data: { kubeconfig: kubeconfig.toString('base64') },
  });
}

/** The Secret with the kubeconfig of a cluster. */
export async function credentialsOf(hub: ApiServer, name: ClusterName): Promise<KubeObject> {
  return hub.client.get(SECRETS, { name: `${name}-kubeconfig`, namespace: 'kubenode-system' });
}

export async function declareCluster(client: Client, name: ClusterName): Promise<void> {
  await client.create(CLUSTERS, {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Cluster',
    metadata: { name },
    spec: { environment: ENVIRONMENTS[name], connection: { credentialsRef: { name: `${name}-kubeconfig` } } },
  });
}

export async function declarePipeline(client: Client, name: ClusterName, repository: string): Promise<void> {
  const clusterSelector = { matchLabels: { 'kubenode.dev/environment': ENVIRONMENTS[name] } };
  await client.create(PIPELINES, {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Pipeline',
    metadata: { name },
    spec: {
      source: { repository: `file://${repository}`, ref: 'refs/heads/main', pollSeconds: 1 },
      stages: [{ name: 'only', clusterSelector, soakSeconds: 0 }],
      historyLimit: 100,
      deleteBudget: { maxObjects: 1000, maxPercent: 100 },
    },
  });
}
