/** The permissions of all service accounts and people: each with those who have it. */
import {
  PRINCIPAL_APPROVER,
  PRINCIPAL_COMPONENTSET,
  PRINCIPAL_CONTROLLERS,
  PRINCIPAL_DEFENDER,
  PRINCIPAL_HOSTDOCTOR,
  PRINCIPAL_HOSTING,
  PRINCIPAL_MACHINE,
  PRINCIPAL_MACHINESET,
  PRINCIPAL_REMEDY,
  PRINCIPAL_REMEDYJOB,
  PRINCIPAL_SYNC,
  ROLE_ADMIN,
  ROLE_GRANTS,
  ROLE_OPERATOR,
  ROLE_STOP,
  ROLE_VIEW,
  ROLE_VIEW_EVENTS,
  SECRET_MAINTENANCE_WEBHOOK,
} from '../../../src/api/names.ts';

/** A permission in the terms of `kubectl auth can-i`. */
export interface Permission {
  readonly verb: string;
  readonly group?: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

const ours = (verb: string, resource: string, subresource?: string): Permission => ({
  verb,
  group: 'kubenode.dev',
  resource,
  ...(subresource === undefined ? {} : { subresource }),
});
const inSystem = (verb: string, resource: string, group = ''): Permission => ({
  verb,
  group,
  resource,
  namespace: 'kubenode-system',
});
const inKubeSystem = (verb: string, resource: string): Permission => ({
  verb,
  resource,
  namespace: 'kube-system',
});
/** The EndpointSlice in which API servers publish their addresses. */
const ofApiServers = (verb: string): Permission => ({
  verb,
  group: 'discovery.k8s.io',
  resource: 'endpointslices',
  namespace: 'default',
  name: 'kubernetes',
});
const csr = 'certificates.k8s.io';
const EVENTS = 'events.k8s.io';
const EVENT_WRITERS = [PRINCIPAL_SYNC, PRINCIPAL_CONTROLLERS, PRINCIPAL_HOSTING];
export const RBAC = 'rbac.authorization.k8s.io';

/** Controllers that share a process with the Defender read Machines by it. */
const READERS = [PRINCIPAL_DEFENDER, PRINCIPAL_HOSTING, PRINCIPAL_SYNC];

/** No other service account or person has the permission. */
export const permissions: readonly [Permission, readonly string[]][] = [
  [
    ours('patch', 'machines', 'status'),
    [PRINCIPAL_MACHINE, PRINCIPAL_REMEDY, PRINCIPAL_REMEDYJOB, ROLE_ADMIN],
  ],
  [ours('create', 'machines'), [PRINCIPAL_SYNC, PRINCIPAL_MACHINESET, ROLE_ADMIN]],
  [ours('delete', 'machines'), [PRINCIPAL_SYNC, PRINCIPAL_MACHINESET, ROLE_ADMIN]],
  [
    ours('patch', 'machines'),
    [
      PRINCIPAL_SYNC,
      PRINCIPAL_MACHINE,
      PRINCIPAL_MACHINESET,
      PRINCIPAL_COMPONENTSET,
      ROLE_OPERATOR,
      ROLE_ADMIN,
    ],
  ],
  [ours('patch', 'machinesets', 'status'), [PRINCIPAL_MACHINESET, ROLE_ADMIN]],
  [ours('create', 'machinesets'), [PRINCIPAL_SYNC, ROLE_ADMIN]],
  [ours('patch', 'machinecomponents', 'status'), [PRINCIPAL_COMPONENTSET, ROLE_ADMIN]],
  [ours('patch', 'machinecomponentsets', 'status'), [PRINCIPAL_COMPONENTSET, ROLE_ADMIN]],
  [ours('patch', 'machinecomponentsets'), [PRINCIPAL_SYNC, ROLE_OPERATOR, ROLE_ADMIN]],
  [ours('create', 'remedyoperationjobs'), [PRINCIPAL_REMEDY, ROLE_ADMIN]],
  [ours('patch', 'remedyoperationjobs', 'status'), [PRINCIPAL_REMEDYJOB, ROLE_ADMIN]],
  [ours('patch', 'remedyoperationjobs'), [PRINCIPAL_REMEDYJOB, ROLE_OPERATOR, ROLE_ADMIN]],
  [ours('patch', 'noderemediers', 'status'), [PRINCIPAL_REMEDY, ROLE_ADMIN]],
  [ours('patch', 'noderemediers'), [PRINCIPAL_SYNC, ROLE_ADMIN]],
  [ours('create', 'maintenanceevents'), [PRINCIPAL_HOSTDOCTOR, ROLE_OPERATOR, ROLE_ADMIN]],
  [ours('patch', 'maintenanceevents'), [PRINCIPAL_HOSTDOCTOR, ROLE_OPERATOR, ROLE_ADMIN]],
  [ours('update', 'maintenanceevents'), [PRINCIPAL_HOSTDOCTOR, ROLE_ADMIN]],
  [
    ours('get', 'machines'),
    [...READERS, PRINCIPAL_MACHINE, PRINCIPAL_HOSTDOCTOR, ROLE_VIEW, ROLE_OPERATOR, ROLE_ADMIN],
  ],
  [ours('delete', 'maintenanceevents'), [PRINCIPAL_HOSTDOCTOR, ROLE_ADMIN]],
  [ours('patch', 'maintenanceevents', 'status'), [PRINCIPAL_HOSTDOCTOR, ROLE_ADMIN]],
  [ours('patch', 'clusters', 'status'), [PRINCIPAL_SYNC, PRINCIPAL_HOSTING, ROLE_ADMIN]],
  [ours('create', 'clusters'), [PRINCIPAL_SYNC, ROLE_ADMIN]],
  [ours('delete', 'clusters'), [PRINCIPAL_SYNC, PRINCIPAL_HOSTING, ROLE_ADMIN]],
  [ours('patch', 'pipelines'), [PRINCIPAL_SYNC, ROLE_OPERATOR, ROLE_ADMIN]],
  [ours('create', 'releases'), [PRINCIPAL_SYNC, ROLE_ADMIN]],
  [ours('patch', 'releases', 'status'), [PRINCIPAL_SYNC, ROLE_ADMIN]],
  [ours('update', 'defenderledgers'), [PRINCIPAL_DEFENDER, ROLE_ADMIN]],
  [ours('patch', 'defenderledgers'), [ROLE_ADMIN]],
  [ours('delete', 'defenderledgers'), [ROLE_ADMIN]],
  [ours('patch', 'defenderpolicies', 'status'), [PRINCIPAL_DEFENDER, ROLE_ADMIN]],
  [ours('create', 'defenderpolicies'), [PRINCIPAL_SYNC, ROLE_STOP, ROLE_ADMIN]],
  [ours('delete', 'defenderpolicies'), [PRINCIPAL_SYNC, ROLE_ADMIN]],
  [ours('break-glass', 'noderemediers'), [ROLE_ADMIN]],
  [ours('create', 'defenderledgers', 'approvals'), [ROLE_OPERATOR, ROLE_ADMIN]],
  [ours('create', 'defenderledgers', 'grants'), [ROLE_GRANTS, ROLE_ADMIN]],
  [
    ours('list', 'machines'),
    [...READERS, PRINCIPAL_MACHINE, PRINCIPAL_MACHINESET, ROLE_VIEW, ROLE_OPERATOR, ROLE_ADMIN],
  ],
  [{ verb: 'patch', resource: 'nodes' }, [PRINCIPAL_MACHINE, PRINCIPAL_REMEDYJOB]],
  [{ verb: 'patch', resource: 'nodes', subresource: 'status' }, []],
  [{ verb: 'delete', resource: 'nodes' }, [PRINCIPAL_MACHINE]],
  [
    { verb: 'create', resource: 'pods', subresource: 'eviction', namespace: 'shop' },
    [PRINCIPAL_MACHINE, PRINCIPAL_REMEDYJOB],
  ],
  [{ verb: 'delete', resource: 'pods', namespace: 'shop' }, []],
  [
    { verb: 'list', resource: 'pods' },
    [PRINCIPAL_MACHINE, PRINCIPAL_REMEDY, PRINCIPAL_REMEDYJOB, PRINCIPAL_DEFENDER, PRINCIPAL_SYNC],
  ],
  [{ verb: 'watch', resource: 'pods' }, [PRINCIPAL_DEFENDER]],
  [{ verb: 'list', group: 'storage.k8s.io', resource: 'volumeattachments' }, [PRINCIPAL_REMEDYJOB]],
  [{ verb: 'delete', group: 'storage.k8s.io', resource: 'volumeattachments' }, []],
  [ofApiServers('get'), [PRINCIPAL_COMPONENTSET]],
  [ofApiServers('list'), [PRINCIPAL_COMPONENTSET]],
  [ofApiServers('watch'), [PRINCIPAL_COMPONENTSET]],
  [ofApiServers('patch'), []],
  [{ ...ofApiServers('get'), name: 'another' }, []],
  [{ ...ofApiServers('list'), name: '' }, []],
  [{ ...ofApiServers('watch'), name: '' }, []],
  [{ ...ofApiServers('get'), namespace: 'shop' }, []],
  [{ ...ofApiServers('patch'), namespace: 'shop' }, []],
  [{ verb: 'watch', resource: 'events', namespace: 'default' }, [PRINCIPAL_REMEDY]],
  [{ verb: 'watch', resource: 'events', namespace: 'shop' }, []],
  [{ verb: 'delete', resource: 'events', namespace: 'default' }, []],
  [inKubeSystem('create', 'secrets'), [PRINCIPAL_MACHINE]],
  [inKubeSystem('delete', 'secrets'), [PRINCIPAL_MACHINE]],
  [inKubeSystem('get', 'secrets'), []],
  [inKubeSystem('list', 'secrets'), []],
  [inKubeSystem('patch', 'secrets'), []],
  [inSystem('get', 'secrets'), [PRINCIPAL_SYNC, PRINCIPAL_HOSTING, PRINCIPAL_MACHINE]],
  [
    { ...inSystem('get', 'secrets'), name: SECRET_MAINTENANCE_WEBHOOK },
    [PRINCIPAL_SYNC, PRINCIPAL_HOSTING, PRINCIPAL_MACHINE, PRINCIPAL_HOSTDOCTOR],
  ],
  [inSystem('list', 'secrets'), [PRINCIPAL_SYNC, PRINCIPAL_HOSTING]],
  [inSystem('create', 'secrets'), [PRINCIPAL_HOSTING]],
  [{ verb: 'get', resource: 'secrets', namespace: 'default' }, []],
  [{ verb: 'create', resource: 'secrets', namespace: 'default' }, []],
  [
    inSystem('update', 'leases', 'coordination.k8s.io'),
    [PRINCIPAL_SYNC, PRINCIPAL_CONTROLLERS, PRINCIPAL_HOSTING],
  ],
  [
    inSystem('get', 'leases', 'coordination.k8s.io'),
    [
      PRINCIPAL_CONTROLLERS,
      PRINCIPAL_DEFENDER,
      PRINCIPAL_HOSTING,
      PRINCIPAL_SYNC,
      ROLE_VIEW,
      ROLE_OPERATOR,
      ROLE_ADMIN,
    ],
  ],
  [{ verb: 'update', group: 'coordination.k8s.io', resource: 'leases', namespace: 'kubenode-agents' }, []],
  [
    { verb: 'patch', group: 'coordination.k8s.io', resource: 'leases', namespace: 'kubenode-agents' },
    [PRINCIPAL_MACHINE],
  ],
  [{ verb: 'update', group: 'coordination.k8s.io', resource: 'leases', namespace: 'kube-node-lease' }, []],
  [
    { verb: 'update', group: 'coordination.k8s.io', resource: 'leases', namespace: 'kubenode-hosts' },
    [PRINCIPAL_MACHINE],
  ],
  [
    { verb: 'list', group: 'coordination.k8s.io', resource: 'leases', namespace: 'kubenode-hosts' },
    [PRINCIPAL_DEFENDER, PRINCIPAL_HOSTING, PRINCIPAL_MACHINE, PRINCIPAL_MACHINESET, PRINCIPAL_SYNC],
  ],
  [{ verb: 'patch', group: 'coordination.k8s.io', resource: 'leases', namespace: 'kubenode-hosts' }, []],
  [
    { verb: 'list', resource: 'configmaps', namespace: 'kubenode-hosts' },
    [PRINCIPAL_MACHINE, PRINCIPAL_SYNC],
  ],
  [inSystem('create', 'configmaps'), [PRINCIPAL_SYNC]],
  ...(['get', 'create', 'update', 'delete'] as const).map((verb): [Permission, readonly string[]] => [
    { verb, resource: 'configmaps', namespace: 'kubenode-audit' },
    [PRINCIPAL_DEFENDER, PRINCIPAL_SYNC],
  ]),
  [{ verb: 'patch', resource: 'configmaps', namespace: 'kubenode-audit' }, [PRINCIPAL_SYNC]],
  [{ verb: 'list', resource: 'configmaps', namespace: 'kubenode-audit' }, [PRINCIPAL_SYNC]],
  [inSystem('create', 'controllerrevisions', 'apps'), [PRINCIPAL_COMPONENTSET]],
  [inSystem('delete', 'controllerrevisions', 'apps'), [PRINCIPAL_COMPONENTSET]],
  [inSystem('patch', 'controllerrevisions', 'apps'), []],
  [inSystem('create', 'events', EVENTS), []],
  [{ verb: 'create', group: EVENTS, resource: 'events', namespace: 'default' }, EVENT_WRITERS],
  [{ verb: 'patch', group: EVENTS, resource: 'events', namespace: 'default' }, EVENT_WRITERS],
  [{ verb: 'create', group: EVENTS, resource: 'events', namespace: 'shop' }, []],
  [{ verb: 'create', resource: 'events', namespace: 'default' }, []],
  // Bound for the whole cluster in the test; people bind it in one namespace.
  [{ verb: 'list', resource: 'events', namespace: 'shop' }, [ROLE_VIEW_EVENTS]],
  [{ verb: 'create', group: csr, resource: 'certificatesigningrequests' }, [PRINCIPAL_MACHINE]],
  [
    { verb: 'update', group: csr, resource: 'certificatesigningrequests', subresource: 'approval' },
    [PRINCIPAL_APPROVER],
  ],
  [
    { verb: 'get', resource: 'namespaces', name: 'kube-system' },
    [PRINCIPAL_SYNC, PRINCIPAL_MACHINE, PRINCIPAL_HOSTING],
  ],
  [{ verb: 'get', resource: 'namespaces', name: 'default' }, [PRINCIPAL_SYNC, PRINCIPAL_HOSTING]],
  [
    { verb: 'approve', group: csr, resource: 'signers', name: 'kubernetes.io/kube-apiserver-client' },
    [PRINCIPAL_APPROVER],
  ],
  [{ verb: 'approve', group: csr, resource: 'signers', name: 'kubernetes.io/kubelet-serving' }, []],
  [{ verb: 'create', group: 'authentication.k8s.io', resource: 'tokenreviews' }, [PRINCIPAL_DEFENDER]],
  [{ verb: 'create', group: 'authorization.k8s.io', resource: 'subjectaccessreviews' }, [PRINCIPAL_DEFENDER]],
  [{ verb: 'create', resource: 'namespaces' }, [PRINCIPAL_SYNC, PRINCIPAL_HOSTING]],
  [{ verb: 'create', group: 'apps', resource: 'deployments', namespace: 'shop' }, [PRINCIPAL_SYNC]],
  [
    { verb: 'create', group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' },
    [PRINCIPAL_SYNC],
  ],
  [{ verb: 'create', group: 'admissionregistration.k8s.io', resource: 'validatingadmissionpolicies' }, []],
  [
    { verb: 'delete', group: 'admissionregistration.k8s.io', resource: 'validatingadmissionpolicybindings' },
    [],
  ],
  [
    { verb: 'bind', group: RBAC, resource: 'clusterroles', name: 'kubenode-hosting-tenant' },
    [PRINCIPAL_HOSTING],
  ],
  [{ verb: 'bind', group: RBAC, resource: 'clusterroles', name: 'cluster-admin' }, []],
  [{ verb: 'escalate', group: RBAC, resource: 'clusterroles' }, []],
  [{ verb: 'impersonate', resource: 'users' }, []],
  [{ verb: 'impersonate', resource: 'groups', name: 'system:masters' }, []],
  [{ ...inSystem('impersonate', 'serviceaccounts'), name: PRINCIPAL_REMEDY }, [PRINCIPAL_CONTROLLERS]],
  [
    { ...inSystem('impersonate', 'serviceaccounts'), name: PRINCIPAL_DEFENDER },
    [PRINCIPAL_CONTROLLERS, PRINCIPAL_HOSTING],
  ],
  [{ ...inSystem('impersonate', 'serviceaccounts'), name: PRINCIPAL_SYNC }, []],
  [{ verb: 'create', resource: 'serviceaccounts', subresource: 'token', namespace: 'kubenode-system' }, []],
];

export const PEOPLE: readonly string[] = [
  ROLE_VIEW,
  ROLE_VIEW_EVENTS,
  ROLE_OPERATOR,
  ROLE_GRANTS,
  ROLE_STOP,
  ROLE_ADMIN,
];
