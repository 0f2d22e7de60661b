/** Permissions of each controller. They write by server-side apply, so `patch`; `delete` only where they own objects. */
import {
  GROUP,
  MANAGED_BY,
  NAMESPACE,
  NAMESPACE_KUBE_SYSTEM,
  NAMESPACE_OF_API_SERVERS,
  NAMESPACE_OF_NODE_EVENTS,
  PRINCIPAL_HOSTING,
  SIGNER_AGENT,
  SIGNER_KUBELET,
} from '../names.ts';
import { APPLY, may, PATCH, type PolicyRule, READ, WRITE } from './rbac.ts';

const CERTIFICATES = 'certificates.k8s.io';

const ourKinds = may(READ, GROUP, ['*']);
const nodes = may(READ, '', ['nodes']);
const leases = may(READ, 'coordination.k8s.io', ['leases']);
const pods = may(READ, '', ['pods']);
const budgets = may(READ, 'policy', ['poddisruptionbudgets']);
const evictions = may(['create'], '', ['pods/eviction']);
/** What nearly every controller reads. */
const baseReads = [ourKinds, nodes, leases];

export interface Rights {
  readonly description: string;
  readonly cluster: readonly PolicyRule[];
  /** In single namespaces only. */
  readonly namespaced?: Readonly<Record<string, readonly PolicyRule[]>>;
}

/** Machines, Nodes, Leases, sets and the ledger are read by the Defender of the same process. */
export const machineRights: Rights = {
  description: 'Machine status, Nodes, evictions, and bootstrap tokens.',
  cluster: [
    may(['get'], GROUP, ['machines']), // the record of a bootstrap token
    may(PATCH, GROUP, ['machines', 'machines/status']), // machines: the finalizer
    may([...PATCH, 'delete'], '', ['nodes']), // delete: of a Machine that is deleted
    may(['list'], '', ['pods']),
    may(['list'], 'policy', ['poddisruptionbudgets']),
    evictions,
    may(['get'], '', ['namespaces'], [NAMESPACE_KUBE_SYSTEM]), // its UID is on the instances of this cluster
  ],
  namespaced: {
    // Bootstrap tokens. RBAC can limit neither type nor name of a Secret that is created, so the policy
    // kubenode-bootstrap-tokens does. No right to read: the other Secrets in kube-system stay secret.
    [NAMESPACE_KUBE_SYSTEM]: [may(['create', 'delete'], '', ['secrets'])],
  },
};

export const machinesetRights: Rights = {
  description: 'The Machines of its sets, and MachineSet status.',
  cluster: [
    may([...APPLY, 'delete'], GROUP, ['machines']),
    may(PATCH, GROUP, ['machinesets', 'machinesets/status']), // machinesets: the finalizer
  ],
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
    [NAMESPACE_OF_API_SERVERS]: [may(['list'], 'discovery.k8s.io', ['endpointslices'])],
  },
};

export const remedyRights: Rights = {
  description: 'RemedyOperationJobs, NodeRemedier status, and the faults and waits of Machines.',
  cluster: [
    ...baseReads,
    pods,
    may([...APPLY, 'delete'], GROUP, ['remedyoperationjobs']),
    may(PATCH, GROUP, ['noderemediers/status', 'machines/status']),
  ],
  // The fact `event`: Events of Nodes, which have no namespace of their own.
  namespaced: { [NAMESPACE_OF_NODE_EVENTS]: [may(READ, '', ['events'])] },
};

export const remedyjobRights: Rights = {
  description:
    'RemedyOperationJob status, repairs of Machines, cordons, evictions, and Machines that a job replaces.',
  cluster: [
    ...baseReads,
    may(PATCH, GROUP, ['remedyoperationjobs', 'remedyoperationjobs/status']), // jobs: the finalizer
    may(PATCH, GROUP, ['machines/status']),
    may(['delete'], GROUP, ['machines']),
    may(PATCH, '', ['nodes']),
    pods,
    budgets,
    evictions,
  ],
};

/** Machines, rules and jobs are read by other controllers of the same process. People and scripts create the events. */
export const hostdoctorRights: Rights = {
  description: 'MaintenanceEvent status, and the deletion of events that ended long ago.',
  cluster: [
    may([...READ, 'delete'], GROUP, ['maintenanceevents']),
    may(PATCH, GROUP, ['maintenanceevents/status']),
  ],
};

/** Bound by hosting in each namespace that it creates. It can read Secrets in no other namespace. */
export const HOSTING_TENANT = `${PRINCIPAL_HOSTING}-tenant`;

export const hostingRights: Rights = {
  description: 'Hosted control planes in the hub, each in a namespace of its own, and Cluster.status.hosted.',
  cluster: [
    ...baseReads,
    may(PATCH, GROUP, ['clusters', 'clusters/status']), // clusters: the finalizer
    may([...READ, ...APPLY, 'delete'], '', ['namespaces']),
    may([...READ, ...APPLY, 'delete'], 'rbac.authorization.k8s.io', ['rolebindings']),
    may(['bind'], 'rbac.authorization.k8s.io', ['clusterroles'], [HOSTING_TENANT]),
  ],
  namespaced: { [NAMESPACE]: [may([...READ, ...WRITE], '', ['secrets'])] }, // <cluster>-kubeconfig
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
    ...baseReads,
    pods,
    // No patch: the ledger is written by compare-and-swap only.
    may(['create', 'update'], GROUP, ['defenderledgers']),
    may(['update', 'patch'], GROUP, ['defenderledgers/status', 'defenderpolicies/status']),
    may(['create'], 'authentication.k8s.io', ['tokenreviews']),
    may(['create'], 'authorization.k8s.io', ['subjectaccessreviews']),
  ],
};

export const approverRights: Rights = {
  description: `Approval and denial of certificate requests in the names of ${MANAGED_BY}.`,
  cluster: [
    ...baseReads,
    may(READ, CERTIFICATES, ['certificatesigningrequests']),
    may(['update', 'patch'], CERTIFICATES, ['certificatesigningrequests/approval']),
    may(['approve'], CERTIFICATES, ['signers'], [SIGNER_AGENT, SIGNER_KUBELET]),
  ],
};

/** The process: it renews leader Leases and reads for the shared caches. It does everything else as a controller's account. */
export function controllersRights(principals: readonly string[]): Rights {
  return {
    description: `Leader Leases in ${NAMESPACE}, and impersonation of the account of each controller.`,
    cluster: baseReads,
    namespaced: {
      [NAMESPACE]: [
        may([...READ, 'create', 'update', 'patch'], 'coordination.k8s.io', ['leases']),
        may(['impersonate'], '', ['serviceaccounts'], principals),
      ],
    },
  };
}
