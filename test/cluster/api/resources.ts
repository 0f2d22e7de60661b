/** API resources that the tests of this folder use. */
import {
  CLUSTERS,
  DEFENDER_LEDGERS,
  DEFENDER_POLICIES,
  MACHINE_COMPONENT_SETS,
  MACHINE_COMPONENTS,
  MACHINE_SETS,
  MACHINES,
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
} from '../../../src/api/generated/resources.ts';
import type { Resource } from '../../../src/kube/objects/object.ts';

export const resources = {
  Machine: MACHINES,
  MachineSet: MACHINE_SETS,
  MachineComponent: MACHINE_COMPONENTS,
  MachineComponentSet: MACHINE_COMPONENT_SETS,
  RemedyOperationJob: REMEDY_OPERATION_JOBS,
  NodeRemedier: NODE_REMEDIERS,
  DefenderPolicy: DEFENDER_POLICIES,
  DefenderLedger: DEFENDER_LEDGERS,
  Cluster: CLUSTERS,
  Node: core('Node', 'nodes', false),
  Pod: core('Pod', 'pods', true),
  Secret: core('Secret', 'secrets', true),
  ConfigMap: core('ConfigMap', 'configmaps', true),
  Namespace: core('Namespace', 'namespaces', false),
  Event: { ...core('Event', 'events', true), group: 'events.k8s.io' },
  Lease: { ...core('Lease', 'leases', true), group: 'coordination.k8s.io' },
  ClusterRole: { ...core('ClusterRole', 'clusterroles', false), group: 'rbac.authorization.k8s.io' },
  Role: { ...core('Role', 'roles', true), group: 'rbac.authorization.k8s.io' },
  ClusterRoleBinding: {
    ...core('ClusterRoleBinding', 'clusterrolebindings', false),
    group: 'rbac.authorization.k8s.io',
  },
  CertificateSigningRequest: {
    ...core('CertificateSigningRequest', 'certificatesigningrequests', false),
    group: 'certificates.k8s.io',
  },
} satisfies Record<string, Resource>;

export type ResourceKind = keyof typeof resources;

function core(kind: string, plural: string, namespaced: boolean): Resource {
  return { group: '', version: 'v1', kind, plural, namespaced };
}
