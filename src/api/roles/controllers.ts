/** What each controller may do. They write by server-side apply, so `patch`; a delete stands where it is theirs. */
import {
  GROUP,
  MANAGED_BY,
  NAMESPACE,
  NAMESPACE_KUBE_SYSTEM,
  NAMESPACE_OF_NODE_EVENTS,
  PRINCIPAL_HOSTING,
} from '../names.ts';
import { APPLY, may, PATCH, READ, type Rule, WRITE } from './rbac.ts';

const CERTIFICATES = 'certificates.k8s.io';
/** Agents and their kubelets; no other signer's requests are ours. */
const SIGNERS = ['kubernetes.io/kube-apiserver-client', 'kubernetes.io/kube-apiserver-client-kubelet'];

const ourKinds = may(READ, GROUP, ['*']);
const nodes = may(READ, '', ['nodes']);
const leases = may(READ, 'coordination.k8s.io', ['leases']);
const pods = may(READ, '', ['pods']);
const budgets = may(READ, 'policy', ['poddisruptionbudgets']);
const evictions = may(['create'], '', ['pods/eviction']);
/** What every controller decides by. */
const sight = [ourKinds, nodes, leases];

export interface Rights {
  readonly description: string;
  readonly cluster: readonly Rule[];
  /** In single namespaces only. */
  readonly namespaced?: Readonly<Record<string, readonly Rule[]>>;
}

export const machine: Rights = {
  description: 'Machine status, Nodes, evictions, and certificate requests of hosts that it imports.',
  cluster: [
    ...sight,
    may(PATCH, GROUP, ['machines', 'machines/status']), // machines: the finalizer
    may(PATCH, '', ['nodes']),
    pods,
    budgets,
    evictions,
    may(['create', ...READ], CERTIFICATES, ['certificatesigningrequests']),
  ],
  namespaced: {
    [NAMESPACE]: [may(['get'], '', ['secrets'])], // SSH credentials of hosts to import
    // Bootstrap tokens. RBAC can limit neither type nor name of a Secret that is created, so the policy
    // kubenode-bootstrap-tokens does. No right to read: the other Secrets in kube-system stay secret.
    [NAMESPACE_KUBE_SYSTEM]: [may(['create', 'delete'], '', ['secrets'])],
  },
};

export const machineset: Rights = {
  description: 'The Machines of its sets, and MachineSet status.',
  cluster: [
    ...sight,
    may([...APPLY, 'delete'], GROUP, ['machines']),
    may(PATCH, GROUP, ['machinesets', 'machinesets/status']), // machinesets: the finalizer
  ],
};

export const componentset: Rights = {
  description: 'Machine.spec.components, and status of MachineComponentSet and MachineComponent.',
  cluster: [
    ...sight,
    may(PATCH, GROUP, ['machines', 'machinecomponents', 'machinecomponents/status']), // finalizer in-use
    may(PATCH, GROUP, ['machinecomponentsets/status']),
    // Health gates: pods of a node that was updated, and whether Services have endpoints left.
    pods,
    may(READ, 'discovery.k8s.io', ['endpointslices']),
  ],
  // What a rollback returns to.
  namespaced: { [NAMESPACE]: [may([...READ, ...WRITE], 'apps', ['controllerrevisions'])] },
};

export const remedy: Rights = {
  description: 'RemedyOperationJobs, NodeRemedier status, and the faults of Machines.',
  cluster: [
    ...sight,
    pods,
    may([...APPLY, 'delete'], GROUP, ['remedyoperationjobs']),
    may(PATCH, GROUP, ['noderemediers/status', 'machines/status']),
  ],
  // The fact `event`: Events of Nodes, which have no namespace of their own.
  namespaced: { [NAMESPACE_OF_NODE_EVENTS]: [may(READ, '', ['events'])] },
};

export const remedyjob: Rights = {
  description:
    'RemedyOperationJob status, repairs of Machines, cordons, evictions, and Machines that a job replaces.',
  cluster: [
    ...sight,
    may(PATCH, GROUP, ['remedyoperationjobs', 'remedyoperationjobs/status']), // jobs: the finalizer
    may(PATCH, GROUP, ['machines/status']),
    may(['delete'], GROUP, ['machines']),
    may(PATCH, '', ['nodes']),
    pods,
    budgets,
    evictions,
  ],
};

export const hostdoctor: Rights = {
  description: 'MaintenanceEvents.',
  cluster: [
    ...sight,
    may([...APPLY, 'delete'], GROUP, ['maintenanceevents']),
    may(PATCH, GROUP, ['maintenanceevents/status']),
  ],
};

/** Bound by hosting in each namespace that it makes, and nowhere else: it sees no other Secrets. */
export const HOSTING_TENANT = `${PRINCIPAL_HOSTING}-tenant`;

export const hosting: Rights = {
  description: 'Hosted control planes in the hub, each in a namespace of its own, and Cluster.status.hosted.',
  cluster: [
    ...sight,
    may(PATCH, GROUP, ['clusters', 'clusters/status']), // clusters: the finalizer
    may([...READ, ...APPLY, 'delete'], '', ['namespaces']),
    may([...READ, ...APPLY, 'delete'], 'rbac.authorization.k8s.io', ['rolebindings']),
    may(['bind'], 'rbac.authorization.k8s.io', ['clusterroles'], [HOSTING_TENANT]),
  ],
  namespaced: { [NAMESPACE]: [may([...READ, ...WRITE], '', ['secrets'])] }, // <cluster>-kubeconfig
};

export const hostingTenant: readonly Rule[] = [
  may([...READ, ...WRITE], '', ['configmaps', 'secrets', 'services', 'persistentvolumeclaims']),
  may([...READ, 'delete'], '', ['pods']),
  may(['get'], '', ['pods/log']),
  may([...READ, ...WRITE], 'apps', ['deployments', 'statefulsets']),
  may([...READ, ...WRITE], 'batch', ['jobs', 'cronjobs']),
  may([...READ, ...WRITE], 'policy', ['poddisruptionbudgets']),
  may([...READ, ...WRITE], 'networking.k8s.io', ['networkpolicies']),
];

export const defender: Rights = {
  description: 'The DefenderLedger, DefenderPolicy status, and the reviews behind its door.',
  cluster: [
    ...sight,
    pods,
    // No patch: the ledger is changed only by compare-and-swap.
    may(['create', 'update'], GROUP, ['defenderledgers']),
    may(['update', 'patch'], GROUP, ['defenderledgers/status', 'defenderpolicies/status']),
    may(['create'], 'authentication.k8s.io', ['tokenreviews']),
    may(['create'], 'authorization.k8s.io', ['subjectaccessreviews']),
  ],
};

export const approver: Rights = {
  description: `Approval and denial of certificate requests in the names of ${MANAGED_BY}.`,
  cluster: [
    ...sight,
    may(READ, CERTIFICATES, ['certificatesigningrequests']),
    may(['update', 'patch'], CERTIFICATES, ['certificatesigningrequests/approval']),
    may(['approve'], CERTIFICATES, ['signers'], SIGNERS),
  ],
};

/** The process: it keeps leads, and reads for the shared caches; all else it does in the name of a controller. */
export function controllers(principals: readonly string[]): Rights {
  return {
    description: `Leads in ${NAMESPACE}, and acting as the account of each controller.`,
    cluster: sight,
    namespaced: {
      [NAMESPACE]: [
        may([...READ, 'create', 'update', 'patch'], 'coordination.k8s.io', ['leases']),
        may(['impersonate'], '', ['serviceaccounts'], principals),
      ],
    },
  };
}
