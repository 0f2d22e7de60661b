/** ClusterRoles for people; whoever runs the platform binds them to groups. And what agents may do. */
import { GROUP, ROLE_ADMIN, ROLE_OPERATOR, ROLE_STOP, ROLE_VIEW } from '../names.ts';
import { clusterRole, may, PATCH, READ, type Rule } from './rbac.ts';

/**
 * A resource that no server serves: whoever may create it may approve or refuse an act at the defender's
 * door, which asks the API server with a SubjectAccessReview.
 */
export const APPROVALS = 'defenderledgers/approvals';
/** A verb of ours: overriding an admission policy with the annotation `kubenode.dev/break-glass`. */
export const VERB_BREAK_GLASS = 'break-glass';

const view = may(READ, GROUP, ['*']);

export const peopleRoles = [
  clusterRole(ROLE_VIEW, 'Reads all kinds of kubenode.', [view]),
  clusterRole(ROLE_OPERATOR, 'Holds, pauses, cancels and approves.', [
    view,
    may(PATCH, GROUP, ['machines', 'machinecomponentsets', 'pipelines', 'remedyoperationjobs']),
    may(['create'], GROUP, [APPROVALS]),
  ]),
  // Without a name, as the API server knows none at creation; the policy kubenode-git-only refuses other names.
  clusterRole(ROLE_STOP, 'May create the policy kill-switch, to stop everything, and nothing else.', [
    may(['create'], GROUP, ['defenderpolicies']),
  ]),
  clusterRole(ROLE_ADMIN, 'All kinds of kubenode; resumes after a stop, and may break glass.', [
    may(['*'], GROUP, ['*']),
  ]),
];

/** The policy kubenode-agent-own-objects narrows this to the agent's own objects. */
export const agentRules: readonly Rule[] = [
  may(READ, GROUP, ['machines', 'machinecomponents', 'remedyoperationjobs']),
  may(PATCH, GROUP, ['machines/status', 'remedyoperationjobs/status']),
  may(['get'], '', ['nodes']),
  may(PATCH, '', ['nodes/status']),
  may(['create', 'get'], 'certificates.k8s.io', ['certificatesigningrequests']), // get: the certificate is in its status
];

/** No list: a host reads the certificate out of the request that it created, by name. */
export const bootstrapRules: readonly Rule[] = [
  may(['create', 'get'], 'certificates.k8s.io', ['certificatesigningrequests']),
];

/** In the namespace of agents only. */
export const agentLeases: readonly Rule[] = [
  may(['create', 'get', 'update', 'patch'], 'coordination.k8s.io', ['leases']),
];

export const eventRules: readonly Rule[] = [
  may(['create', 'patch'], '', ['events']),
  may(['create', 'patch'], 'events.k8s.io', ['events']),
];
