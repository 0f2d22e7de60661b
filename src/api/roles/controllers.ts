/** Defines the permissions of each controller. Controllers write by server-side apply, so `patch`; `delete` only where they own objects. */
import { REMEDIATION_GROUP } from '../clusterapi/remediation.ts';
import {
  GROUP,
  MANAGED_BY,
  NAMESPACE,
  NAMESPACE_AGENTS,
  NAMESPACE_AUDIT,
  NAMESPACE_HOSTS,
  NAMESPACE_KUBE_SYSTEM,
  NAMESPACE_OF_API_SERVERS,
  NAMESPACE_OF_NODE_EVENTS,
  NAMESPACE_OF_NODE_LEASES,
  PRINCIPAL_DEFENDER,
  PRINCIPAL_HOSTING,
  SECRET_MAINTENANCE_WEBHOOK,
  SIGNER_AGENT,
  SIGNER_KUBELET,
  SLICE_OF_API_SERVERS,
  UPDATE_EXTENSION,
} from '../names.ts';
import { APPLY, may, PATCH, type PolicyRule, READ, WRITE } from './rbac.ts';

const CERTIFICATES = 'certificates.k8s.io';
const CLUSTER_API = 'cluster.x-k8s.io';
const BOOTSTRAP_OF_CLUSTER_API = `bootstrap.${CLUSTER_API}`;
const KARPENTER = 'karpenter.sh';

const leases = may(READ, 'coordination.k8s.io', ['leases']);
/** The permissions that a drain uses: budgets only to name those that refuse an eviction. */
const draining = [
  may(['list'], '', ['pods']),
  may(['list'], 'policy', ['poddisruptionbudgets']),
  may(['create'], '', ['pods/eviction']),
];

export interface Rights {
  readonly description: string;
  readonly cluster: readonly PolicyRule[];
  /** The permissions in single namespaces only. */
  readonly namespaced?: Readonly<Record<string, readonly PolicyRule[]>>;
}

/** The permissions of the machine controller. Machines, Nodes, Leases, sets and the ledger are read by the Defender of the same process. */
export const machineRights: Rights = {
  description: 'Machine status, Nodes, evictions, bootstrap tokens, and imports of hosts.',
  cluster: [
    may(['get', 'list'], GROUP, ['machines']), // the record of a bootstrap token; list: whose instances exist without them
    may(PATCH, GROUP, ['machines', 'machines/status']), // machines: the finalizer, and the label of the hardware
    may(['get', ...PATCH, 'delete'], '', ['nodes']), // get, delete: of a Machine that is deleted
    ...draining,
    may(['get'], '', ['namespaces'], [NAMESPACE_KUBE_SYSTEM]), // its UID is on the instances of this cluster
    may(['create'], CERTIFICATES, ['certificatesigningrequests']), // of hosts that it imports
  ],
  namespaced: {
    // SSH keys of hosts that are imported. By name only: no list and no watch.
    [NAMESPACE]: [may(['get'], '', ['secrets'])],
    // Bootstrap tokens. RBAC can limit neither type nor name of a Secret that is created, so the policy
    // kubenode-bootstrap-tokens does. No right to read: the other Secrets in kube-system stay secret.
    [NAMESPACE_KUBE_SYSTEM]: [may(['create', 'delete'], '', ['secrets'])],
    [NAMESPACE_AGENTS]: [may(PATCH, 'coordination.k8s.io', ['leases'])], // the label of a blocked agent
    // Which machine has which host of a pool.
    [NAMESPACE_HOSTS]: [
      may(['list'], '', ['configmaps']),
      may(['get', 'list', 'create', 'update', 'delete'], 'coordination.k8s.io', ['leases']),
    ],
  },
};

export const machinesetRights: Rights = {
  description: 'The Machines of its sets, and MachineSet status.',
  cluster: [
    may(['list', ...APPLY, 'delete'], GROUP, ['machines']), // list: before one is created or deleted
    may(PATCH, GROUP, ['machinesets', 'machinesets/status']), // machinesets: the finalizer
  ],
  namespaced: {
    // The names of Machines whose hosts were not cleaned: they are not given again.
    [NAMESPACE_HOSTS]: [may(['list'], 'coordination.k8s.io', ['leases'])],
  },
};

export const componentsetRights: Rights = {
  description: 'Machine.spec.components, and status of MachineComponentSet and MachineComponent.',
  // Machines, Nodes, Leases and the ledger are read by the Defender of the same process.
  cluster: [
    may(READ, GROUP, ['machinecomponentsets', 'machinecomponents']),
    may(PATCH, GROUP, ['machines', 'machinecomponentsets/status']),
    may(PATCH, GROUP, ['machinecomponents/status']),
  ],
  namespaced: {
    // What a rollback returns to.
    [NAMESPACE]: [may([...READ, 'create', 'delete'], 'apps', ['controllerrevisions'])],
    // The API servers, whose versions kubelets must not exceed.
    [NAMESPACE_OF_API_SERVERS]: [may(READ, 'discovery.k8s.io', ['endpointslices'], [SLICE_OF_API_SERVERS])],
  },
};

/**
 * The permissions of the remedy controller. Machines, Nodes, rules, jobs and the ledger are read by the Defender of the same process, Leases of
 * agents by the approver.
 */
export const remedyRights: Rights = {
  description: 'RemedyOperationJobs, NodeRemedier status, and the faults and waits of Machines.',
  cluster: [
    may(['create', 'delete'], GROUP, ['remedyoperationjobs']), // delete: of those whose time is over
    may(PATCH, GROUP, ['noderemediers/status', 'machines/status']),
    may(['list'], '', ['pods']), // of a node, where the gate of a rule asks what runs there
  ],
  namespaced: {
    // The fact `event`: Events of Nodes, which have no namespace of their own.
    [NAMESPACE_OF_NODE_EVENTS]: [may(READ, '', ['events'])],
    // Signs of life of kubelets.
    [NAMESPACE_OF_NODE_LEASES]: [leases],
  },
};

/** The permissions of the job controller. All that it watches is read by others of the same process. */
export const remedyjobRights: Rights = {
  description: 'RemedyOperationJob status, repairs of Machines, cordons, taints and evictions.',
  cluster: [
    may(PATCH, GROUP, ['remedyoperationjobs', 'remedyoperationjobs/status']), // jobs: the finalizer
    may(PATCH, GROUP, ['machines/status']),
    may(['get', ...PATCH], '', ['nodes']), // get: before a machine is switched off
    may(['list'], 'storage.k8s.io', ['volumeattachments']), // those of a node that is out of service
    ...draining,
  ],
};

/** The permissions of the host doctor. Machines, rules and jobs are watched by other controllers of the same process. */
export const hostdoctorRights: Rights = {
  description:
    'MaintenanceEvents that providers and hardware systems announce, their status, and the deletion of events that ended long ago.',
  cluster: [
    // update: reports of hardware systems are written by compare-and-swap.
    may([...READ, ...WRITE], GROUP, ['maintenanceevents']),
    may(PATCH, GROUP, ['maintenanceevents/status']),
    may(['get'], GROUP, ['machines']), // the machine that a report names
  ],
  namespaced: {
    [NAMESPACE]: [may(['get'], '', ['secrets'], [SECRET_MAINTENANCE_WEBHOOK])],
  },
};

/** The permissions of the controller that follows Cluster API, which are installed only where a person asks for them. */
export const clusterApiRights: Rights = {
  description: 'Machines that follow those of Cluster API, and repairs that its health checks ask for.',
  cluster: [
    may(READ, CLUSTER_API, ['machines', 'clusters']),
    may(PATCH, CLUSTER_API, ['machines']), // the hook before a drain: a policy permits nothing else
    may(PATCH, CLUSTER_API, ['machines/status']), // the conditions OwnerRemediated, which hands a machine back, and Steady: a policy permits nothing else
    may(READ, REMEDIATION_GROUP, ['kubenoderemediations']),
    may(PATCH, REMEDIATION_GROUP, ['kubenoderemediations/status']),
    // get: before its kubelet is updated; list: before one is created or deleted
    may(['get', 'list', ...APPLY, 'delete'], GROUP, ['machines']),
    may(PATCH, GROUP, ['machines/status']), // the condition RemediationRequested
  ],
};

/** The permissions of the controllers that follow NodeClaims and Nodes of node groups, which are installed only where a person asks for them. */
export const externalNodesRights: Rights = {
  description: 'Machines that follow Nodes of other node autoscalers.',
  cluster: [
    may(READ, KARPENTER, ['nodeclaims']),
    may(['list'], '', ['nodes']), // before a Machine of a node group is created or deleted
    may(['list', ...APPLY, 'delete'], GROUP, ['machines']), // list: before one is created or deleted
  ],
};

/** Those with the certificate of the update extension: the installation creates its Secret, and only this one can be read and written. */
export const updateExtensionRights: Rights = {
  ...clusterApiRights,
  // Which files a Machine has, and which it is to have. They also hold the short-lived tokens of machines that join.
  cluster: [...clusterApiRights.cluster, may(READ, BOOTSTRAP_OF_CLUSTER_API, ['kubeadmconfigs'])],
  namespaced: {
    // update: each replica may renew it, by compare-and-swap.
    [NAMESPACE]: [may(['get', 'update'], '', ['secrets'], [UPDATE_EXTENSION])],
  },
};

/** The permissions that the manager of Cluster API gets by aggregation: its health checks create and delete the requests. */
export const clusterApiManagerRules: readonly PolicyRule[] = [
  may([...READ, ...WRITE], REMEDIATION_GROUP, ['kubenoderemediations']),
  may(READ, REMEDIATION_GROUP, ['kubenoderemediationtemplates']),
];

/** The ClusterRole that hosting binds in each namespace that it creates. It can read Secrets in no other namespace. */
export const HOSTING_TENANT = `${PRINCIPAL_HOSTING}-tenant`;

export const hostingRights: Rights = {
  description: 'Hosted control planes in the hub, each in a namespace of its own, and Cluster.status.hosted.',
  cluster: [
    may(READ, GROUP, ['*']),
    may(READ, '', ['nodes']),
    leases,
    may(PATCH, GROUP, ['clusters', 'clusters/status']), // clusters: the finalizer
    may(['delete'], GROUP, ['clusters']), // throw-away clusters whose time is over
    may([...READ, ...APPLY, 'delete'], '', ['namespaces']),
    may([...READ, ...APPLY, 'delete'], 'rbac.authorization.k8s.io', ['rolebindings']),
    may(['bind'], 'rbac.authorization.k8s.io', ['clusterroles'], [HOSTING_TENANT]),
  ],
  namespaced: {
    [NAMESPACE]: [
      may([...READ, ...WRITE], '', ['secrets']), // <cluster>-kubeconfig
      may(['get', 'create', 'update', 'patch'], 'coordination.k8s.io', ['leases']), // who hosts
      // The Defender of the hub decides in the process of hosting.
      may(['impersonate'], '', ['serviceaccounts'], [PRINCIPAL_DEFENDER]),
    ],
  },
};

export const hostingTenant: readonly PolicyRule[] = [
  may([...READ, ...WRITE], '', ['configmaps', 'secrets', 'services', 'persistentvolumeclaims']),
  may([...READ, 'delete'], '', ['pods']),
  may(['get'], '', ['pods/log']),
  may([...READ, ...WRITE], 'apps', ['deployments', 'statefulsets']),
  may([...READ, ...WRITE], 'batch', ['jobs', 'cronjobs']),
  may([...READ, ...WRITE], 'policy', ['poddisruptionbudgets']),
  may([...READ, ...WRITE], 'networking.k8s.io', ['networkpolicies']),
];

export const defenderRights: Rights = {
  description: 'The DefenderLedger, DefenderPolicy status, and the reviews of its HTTP server.',
  cluster: [
    may(READ, GROUP, ['machines', 'machinesets', 'remedyoperationjobs']),
    may(READ, GROUP, ['noderemediers']), // whose facts stay unknown
    may(READ, GROUP, ['defenderpolicies', 'defenderledgers', 'fleetallowances']),
    may(READ, '', ['nodes', 'pods']),
    leases, // of other tools that maintain nodes, in the namespaces that policies name
    // No patch: the ledger is written by compare-and-swap only.
    may(['create', 'update'], GROUP, ['defenderledgers']),
    may(PATCH, GROUP, ['defenderledgers/status', 'defenderpolicies/status', 'fleetallowances/status']),
    may(['create'], 'authentication.k8s.io', ['tokenreviews']),
    may(['create'], 'authorization.k8s.io', ['subjectaccessreviews']),
  ],
  // The record of grants that ended. No list: parts are read by name.
  namespaced: { [NAMESPACE_AUDIT]: [may(['get', 'create', 'update', 'delete'], '', ['configmaps'])] },
};

export const approverRights: Rights = {
  description: `Approval and denial of certificate requests in the names of ${MANAGED_BY}.`,
  cluster: [
    may(READ, CERTIFICATES, ['certificatesigningrequests']),
    may(['update'], CERTIFICATES, ['certificatesigningrequests/approval']),
    may(['approve'], CERTIFICATES, ['signers'], [SIGNER_AGENT, SIGNER_KUBELET]),
  ],
  // Whether an agent has registered. Machines and components are read by others of the same process.
  namespaced: { [NAMESPACE_AGENTS]: [leases] },
};

/** Returns the permissions of the process itself: it renews its leader Lease, and does everything else as a controller's account. */
export function controllersRights(principals: readonly string[]): Rights {
  return {
    description: `Leader Leases in ${NAMESPACE}, and impersonation of the account of each controller.`,
    cluster: [],
    namespaced: {
      [NAMESPACE]: [
        may(['get', 'create', 'update', 'patch'], 'coordination.k8s.io', ['leases']),
        may(['impersonate'], '', ['serviceaccounts'], principals),
      ],
    },
  };
}
