/** The identities of kubenode on an API server: their namespaces, and one ServiceAccount for each part that writes. */
import type { KubeObject } from '../kube/objects/object.ts';
import {
  LABEL_MANAGED_BY,
  MANAGED_BY,
  NAMESPACE,
  NAMESPACE_AGENTS,
  NAMESPACE_AUDIT,
  NAMESPACE_HOSTS,
  PRINCIPAL_APPROVER,
  PRINCIPAL_CLUSTERAPI,
  PRINCIPAL_COMPONENTSET,
  PRINCIPAL_CONTROLLERS,
  PRINCIPAL_DEFENDER,
  PRINCIPAL_EXTERNAL,
  PRINCIPAL_HOSTDOCTOR,
  PRINCIPAL_HOSTING,
  PRINCIPAL_MACHINE,
  PRINCIPAL_MACHINESET,
  PRINCIPAL_REMEDY,
  PRINCIPAL_REMEDYJOB,
  PRINCIPAL_SYNC,
} from './names.ts';

/** The accounts that `kubenode controllers` impersonates, one for each controller. */
export const CONTROLLER_PRINCIPALS = [
  PRINCIPAL_MACHINE,
  PRINCIPAL_MACHINESET,
  PRINCIPAL_COMPONENTSET,
  PRINCIPAL_REMEDY,
  PRINCIPAL_REMEDYJOB,
  PRINCIPAL_HOSTDOCTOR,
  PRINCIPAL_CLUSTERAPI,
  PRINCIPAL_EXTERNAL,
  PRINCIPAL_HOSTING,
  PRINCIPAL_DEFENDER,
  PRINCIPAL_APPROVER,
] as const;

export const PRINCIPALS = [PRINCIPAL_SYNC, PRINCIPAL_CONTROLLERS, ...CONTROLLER_PRINCIPALS] as const;

/** Metadata of the objects of an installation. The description appears in `kubectl describe`. */
export function installed(name: string, description: string, within?: string): KubeObject['metadata'] {
  return {
    name,
    ...(within === undefined ? {} : { namespace: within }),
    labels: { [LABEL_MANAGED_BY]: MANAGED_BY },
    annotations: { 'kubernetes.io/description': description },
  };
}

export function namespaces(): readonly KubeObject[] {
  return [
    namespace(NAMESPACE, 'ServiceAccounts, Secrets, Leases and inventories of kubenode.'),
    namespace(NAMESPACE_AGENTS, 'Heartbeat Leases of agents, named like their machines.'),
    namespace(NAMESPACE_HOSTS, 'Pools of hosts, and Leases that record which machine has which host.'),
    namespace(NAMESPACE_AUDIT, 'The audit record: who wrote what with which commit and which grant.'),
  ];
}

export function serviceAccounts(): readonly KubeObject[] {
  return [
    account(PRINCIPAL_SYNC, 'kubenode sync: applies git to this cluster.', true),
    account(
      PRINCIPAL_CONTROLLERS,
      'kubenode controllers: impersonates the account of each controller.',
      true,
    ),
    account(PRINCIPAL_HOSTING, 'kubenode hosting: control planes of this hub, as pods or processes.', true),
    ...CONTROLLER_PRINCIPALS.filter((name) => name !== PRINCIPAL_HOSTING).map((name) =>
      account(name, `Impersonated by ${PRINCIPAL_CONTROLLERS}; no pod runs as it.`, false),
    ),
  ];
}

function namespace(name: string, description: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: installed(name, description) };
}

/** A token is mounted only if a process runs as the account. */
function account(name: string, description: string, automountServiceAccountToken: boolean): KubeObject {
  const metadata = installed(name, description, NAMESPACE);
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata, automountServiceAccountToken };
}
