/** All roles and bindings of the installation. */
import type { KubeObject } from '../../kube/objects/object.ts';
import {
  LABEL_AGGREGATE_TO_SYNC,
  NAMESPACE,
  NAMESPACE_AGENTS,
  NAMESPACE_OF_NODE_EVENTS,
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
} from '../names.ts';
import { CONTROLLER_PRINCIPALS } from '../principals.ts';
import * as controllers from './controllers.ts';
import { agentLeases, agentRules, bootstrapRules, eventRules, peopleRoles } from './people.ts';
import {
  agents,
  bootstrappers,
  clusterRole,
  clusterRoleBinding,
  role,
  roleBinding,
  serviceAccount,
} from './rbac.ts';
import { syncBase, syncSystem } from './sync.ts';

const AGENTS = 'kubenode-agents';
const EVENTS = 'kubenode-events';
const BOOTSTRAP = 'kubenode-bootstrap';
const CLUSTER_API_MANAGER = `${PRINCIPAL_CLUSTERAPI}-manager`;
/** Processes, each for all of its controllers. */
const EVENT_WRITERS = [PRINCIPAL_SYNC, PRINCIPAL_CONTROLLERS, PRINCIPAL_HOSTING];

const rights: Readonly<Record<string, controllers.Rights>> = {
  [PRINCIPAL_MACHINE]: controllers.machineRights,
  [PRINCIPAL_MACHINESET]: controllers.machinesetRights,
  [PRINCIPAL_COMPONENTSET]: controllers.componentsetRights,
  [PRINCIPAL_REMEDY]: controllers.remedyRights,
  [PRINCIPAL_REMEDYJOB]: controllers.remedyjobRights,
  [PRINCIPAL_HOSTDOCTOR]: controllers.hostdoctorRights,
  [PRINCIPAL_HOSTING]: controllers.hostingRights,
  [PRINCIPAL_DEFENDER]: controllers.defenderRights,
  [PRINCIPAL_APPROVER]: controllers.approverRights,
  [PRINCIPAL_CONTROLLERS]: controllers.controllersRights(CONTROLLER_PRINCIPALS),
};

/** Roles before bindings: RBAC refuses a binding to a role that does not exist yet, unless the user may bind anything. */
export function roles(): readonly KubeObject[] {
  return [
    ...syncRoles(),
    ...Object.entries(rights).flatMap(([name, right]) => rolesOf(name, right)),
    clusterRole(
      controllers.HOSTING_TENANT,
      'Permissions of hosting in the namespaces that it creates.',
      controllers.hostingTenant,
    ),
    clusterRole(EVENTS, 'Writes Events.', eventRules),
    clusterRole(
      AGENTS,
      'Permissions of agents. The policy kubenode-agent-own-objects limits them to their own objects.',
      agentRules,
    ),
    role(AGENTS, NAMESPACE_AGENTS, agentLeases),
    clusterRole(
      BOOTSTRAP,
      'Permissions of a joining host: to request its first certificate.',
      bootstrapRules,
    ),
    ...peopleRoles,
  ];
}

export function bindings(): readonly KubeObject[] {
  return [
    ...syncBindings(),
    ...Object.entries(rights).flatMap(([name, right]) => bindingsOf(name, right)),
    // All that Events are about is cluster-scoped: the API server accepts them in `default` only.
    roleBinding(EVENTS, NAMESPACE_OF_NODE_EVENTS, { kind: 'ClusterRole', name: EVENTS }, [
      ...EVENT_WRITERS.map(serviceAccount),
      agents,
    ]),
    clusterRoleBinding(AGENTS, AGENTS, [agents]),
    roleBinding(AGENTS, NAMESPACE_AGENTS, { kind: 'Role', name: AGENTS }, [agents]),
    clusterRoleBinding(BOOTSTRAP, BOOTSTRAP, [bootstrappers]),
  ];
}

/**
 * The roles of the controllers that follow Cluster API, and their bindings. Without them they can read nothing, and write nothing. With the
 * update extension they may also keep its certificate.
 */
export function clusterApiRoles(hasExtension = false): readonly KubeObject[] {
  const right = hasExtension ? controllers.updateExtensionRights : controllers.clusterApiRights;
  return [
    ...rolesOf(PRINCIPAL_CLUSTERAPI, right),
    clusterApiManagerRole(),
    ...bindingsOf(PRINCIPAL_CLUSTERAPI, right),
  ];
}

/** The role of the controllers that follow Nodes of other node autoscalers, and its binding. Without them they can read nothing, and write nothing. */
export function externalNodesRoles(): readonly KubeObject[] {
  const right = controllers.externalNodesRights;
  return [...rolesOf(PRINCIPAL_EXTERNAL, right), ...bindingsOf(PRINCIPAL_EXTERNAL, right)];
}

/** The manager of Cluster API gets the rules of each ClusterRole with this label. */
function clusterApiManagerRole(): KubeObject {
  const aggregate = { 'cluster.x-k8s.io/aggregate-to-manager': 'true' };
  const description = 'What the manager of Cluster API may do with requests for repairs.';
  const { metadata, ...rest } = clusterRole(
    CLUSTER_API_MANAGER,
    description,
    controllers.clusterApiManagerRules,
  );
  return { ...rest, metadata: { ...metadata, labels: { ...metadata.labels, ...aggregate } } };
}

const SYNC_BASE = `${PRINCIPAL_SYNC}-base`;

function syncRoles(): readonly KubeObject[] {
  const matchLabels = { [LABEL_AGGREGATE_TO_SYNC]: 'true' };
  const base = clusterRole(SYNC_BASE, 'What sync may write from git without further roles.', syncBase);
  // A controller of the server fills in the rules. Applying `rules` would remove them again.
  const { rules: _rules, ...aggregated } = clusterRole(
    PRINCIPAL_SYNC,
    `All ClusterRoles with the label ${LABEL_AGGREGATE_TO_SYNC}: add one for each further kind that git may hold.`,
    [],
  );
  return [
    { ...base, metadata: { ...base.metadata, labels: { ...base.metadata.labels, ...matchLabels } } },
    { ...aggregated, aggregationRule: { clusterRoleSelectors: [{ matchLabels }] } },
    role(PRINCIPAL_SYNC, NAMESPACE, syncSystem),
  ];
}

/** The base role is bound separately, because a server without a controller-manager aggregates no roles. */
function syncBindings(): readonly KubeObject[] {
  const sync = [serviceAccount(PRINCIPAL_SYNC)];
  return [
    clusterRoleBinding(SYNC_BASE, SYNC_BASE, sync),
    clusterRoleBinding(PRINCIPAL_SYNC, PRINCIPAL_SYNC, sync),
    roleBinding(PRINCIPAL_SYNC, NAMESPACE, { kind: 'Role', name: PRINCIPAL_SYNC }, sync),
  ];
}

function rolesOf(
  name: string,
  { description, cluster, namespaced = {} }: controllers.Rights,
): readonly KubeObject[] {
  return [
    clusterRole(name, description, cluster),
    ...Object.entries(namespaced).map(([namespace, rules]) => role(name, namespace, rules)),
  ];
}

function bindingsOf(name: string, { namespaced = {} }: controllers.Rights): readonly KubeObject[] {
  const subjects = [serviceAccount(name)];
  return [
    clusterRoleBinding(name, name, subjects),
    ...Object.keys(namespaced).map((namespace) =>
      roleBinding(name, namespace, { kind: 'Role', name }, subjects),
    ),
  ];
}
