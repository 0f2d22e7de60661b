/** All roles and bindings: what each principal may do, and nothing more. */
import type { KubeObject } from '../../kube/objects/object.ts';
import {
  LABEL_AGGREGATE_TO_SYNC,
  NAMESPACE,
  NAMESPACE_AGENTS,
  NAMESPACE_OF_NODE_EVENTS,
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
} from '../names.ts';
import { CONTROLLER_PRINCIPALS, PRINCIPALS } from '../principals.ts';
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
/** Events about objects without a namespace live here: the API server takes them nowhere else. */
const EVENT_NAMESPACES = [NAMESPACE_OF_NODE_EVENTS, NAMESPACE];

const rights: Readonly<Record<string, controllers.Rights>> = {
  [PRINCIPAL_MACHINE]: controllers.machine,
  [PRINCIPAL_MACHINESET]: controllers.machineset,
  [PRINCIPAL_COMPONENTSET]: controllers.componentset,
  [PRINCIPAL_REMEDY]: controllers.remedy,
  [PRINCIPAL_REMEDYJOB]: controllers.remedyjob,
  [PRINCIPAL_HOSTDOCTOR]: controllers.hostdoctor,
  [PRINCIPAL_HOSTING]: controllers.hosting,
  [PRINCIPAL_DEFENDER]: controllers.defender,
  [PRINCIPAL_APPROVER]: controllers.approver,
  [PRINCIPAL_CONTROLLERS]: controllers.controllers(CONTROLLER_PRINCIPALS),
};

/** Roles before bindings: a binding to a role that is not there yet would be refused to whoever holds less. */
export function roles(): readonly KubeObject[] {
  return [
    ...syncRoles(),
    ...Object.entries(rights).flatMap(([name, right]) => rolesOf(name, right)),
    clusterRole(
      controllers.HOSTING_TENANT,
      'What hosting may do in a namespace that it made.',
      controllers.hostingTenant,
    ),
    clusterRole(EVENTS, 'Writes Events.', eventRules),
    clusterRole(AGENTS, 'What agents may do, each with its own objects only.', agentRules),
    role(AGENTS, NAMESPACE_AGENTS, agentLeases),
    clusterRole(BOOTSTRAP, 'What a host that joins may do: request its first certificate.', bootstrapRules),
    ...peopleRoles,
  ];
}

export function bindings(): readonly KubeObject[] {
  return [
    ...syncBindings(),
    ...Object.entries(rights).flatMap(([name, right]) => bindingsOf(name, right)),
    ...EVENT_NAMESPACES.map((namespace) =>
      roleBinding(EVENTS, namespace, { kind: 'ClusterRole', name: EVENTS }, [
        ...PRINCIPALS.map(serviceAccount),
        ...(namespace === NAMESPACE ? [] : [agents]),
      ]),
    ),
    clusterRoleBinding(AGENTS, AGENTS, [agents]),
    roleBinding(AGENTS, NAMESPACE_AGENTS, { kind: 'Role', name: AGENTS }, [agents]),
    clusterRoleBinding(BOOTSTRAP, BOOTSTRAP, [bootstrappers]),
  ];
}

const SYNC_BASE = `${PRINCIPAL_SYNC}-base`;

function syncRoles(): readonly KubeObject[] {
  const matchLabels = { [LABEL_AGGREGATE_TO_SYNC]: 'true' };
  const base = clusterRole(SYNC_BASE, 'What sync may write from git without any further role.', syncBase);
  // Its rules are filled in by the server's own controller; an intent that named them would take them away again.
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

/** The base is bound by itself, because a server without a controller-manager aggregates nothing. */
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
