/** ClusterRoles for people, which administrators bind to groups, and permissions of agents. */
import {
  CONFIG_AUTHORITIES,
  GROUP,
  ROLE_ADMIN,
  ROLE_GRANTS,
  ROLE_OPERATOR,
  ROLE_STOP,
  ROLE_VIEW,
  ROLE_VIEW_EVENTS,
} from '../names.ts';
import { APPLY, clusterRole, may, PATCH, type PolicyRule, READ } from './rbac.ts';

/**
 * A resource that no server serves. Permission to create it is permission to approve or refuse an act: the HTTP server of
 * the Defender asks the API server with a SubjectAccessReview.
 */
export const APPROVALS = 'defenderledgers/approvals';
/** As APPROVALS: permission to ask for grants in one's own name, and to renew and settle them. */
export const GRANTS = 'defenderledgers/grants';
/** A custom verb: permission to override an admission policy with the annotation `kubenode.dev/break-glass`. */
export const VERB_BREAK_GLASS = 'break-glass';

const view = may(READ, GROUP, ['*']);
/** Whether a process of kubenode runs. */
const viewLeases = may(['get'], 'coordination.k8s.io', ['leases']);

export const peopleRoles = [
  clusterRole(ROLE_VIEW, 'Reads all kinds of kubenode, and Leases.', [view, viewLeases]),
  // A role of its own, to bind in the namespace of the Events of machines: those of other namespaces name what runs there.
  clusterRole(
    ROLE_VIEW_EVENTS,
    'Reads Events: for a RoleBinding in the namespace default, which has those of Nodes and Machines.',
    [may(['get', 'list'], '', ['events'])],
  ),
  clusterRole(ROLE_OPERATOR, 'Holds, pauses, cancels, approves, and announces maintenance.', [
    view,
    viewLeases,
    may(APPLY, GROUP, ['maintenanceevents']),
    may(PATCH, GROUP, ['machines', 'machinecomponentsets', 'pipelines', 'remedyoperationjobs']),
    may(['create'], GROUP, [APPROVALS]),
  ]),
  clusterRole(ROLE_GRANTS, 'Asks the Defender for grants over HTTP: for other tools.', [
    may(['create'], GROUP, [GRANTS]),
  ]),
  // Without resourceNames, which do not apply to create. The policy kubenode-git-only denies other names.
  clusterRole(
    ROLE_STOP,
    'May create the DefenderPolicy or FleetPolicy kill-switch, which stops everything.',
    [may(['create'], GROUP, ['defenderpolicies', 'fleetpolicies'])],
  ),
  clusterRole(ROLE_ADMIN, 'All kinds of kubenode, resuming after a stop, and break-glass.', [
    may(['*'], GROUP, ['*']),
    viewLeases,
  ]),
];

/** The policy kubenode-agent-own-objects limits these to the agent's own objects. */
export const agentRules: readonly PolicyRule[] = [
  may(READ, GROUP, ['machines', 'machinecomponents', 'remedyoperationjobs']),
  may(PATCH, GROUP, ['machines/status', 'remedyoperationjobs/status']),
  may(READ, '', ['nodes']), // list, watch: only its own, by name
  may(PATCH, '', ['nodes/status']),
  may(['create', 'get'], 'certificates.k8s.io', ['certificatesigningrequests']), // get: the certificate is in its status
];

/** No list: a host reads its certificate from the request that it created, by name. */
export const bootstrapRules: readonly PolicyRule[] = [
  may(['create', 'get'], 'certificates.k8s.io', ['certificatesigningrequests']),
];

/** In the namespace kubenode-agents only. */
export const agentLeases: readonly PolicyRule[] = [
  may(['create', 'get', 'update', 'patch'], 'coordination.k8s.io', ['leases']),
  may(['get'], '', ['configmaps'], [CONFIG_AUTHORITIES.name]), // signed by hosting while it rotates the authorities
];

export const eventRules: readonly PolicyRule[] = [may(['create', 'patch'], 'events.k8s.io', ['events'])];
