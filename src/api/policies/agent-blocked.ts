import type { KubeObject } from '../../kube/objects/object.ts';
import {
  AGENT_USER_PREFIX,
  GROUP,
  LABEL_AGENT_BLOCKED,
  NAMESPACE_AGENTS,
  POLICY_AGENT_BLOCKED,
} from '../names.ts';
import { FROM_AGENT } from './agent-own-objects.ts';
import { text, USER } from './cel.ts';
import { type Match, type Operation, policy } from './policy.ts';

/** Where RBAC lets agents write at all: heartbeats, and Events about objects without a namespace. */
const NAMESPACES = [NAMESPACE_AGENTS, 'default'];

/**
 * Kubernetes cannot revoke a client certificate. Until it ends, the label on the Machine takes its power away.
 * Requests for certificates are left to the approver, which approves none of them.
 *
 * The match is as narrow as agents' rights. A policy whose parameter kind is not served refuses all that it
 * matches, before any condition is asked: with `*` a lost CRD would stop every write in the cluster.
 */
export const agentBlocked: readonly KubeObject[] = policy({
  name: POLICY_AGENT_BLOCKED,
  description: `Refuses every write of an agent whose Machine has the label ${LABEL_AGENT_BLOCKED}.`,
  match: [
    match(GROUP, ['machines', 'machines/*', 'remedyoperationjobs', 'remedyoperationjobs/*']),
    match('', ['nodes/status', 'events']),
    match('events.k8s.io', ['events']),
    match('coordination.k8s.io', ['leases']),
  ],
  namespaces: NAMESPACES,
  conditions: { 'from-agent': FROM_AGENT },
  params: {
    kind: 'Machine',
    ref: {
      selector: { matchExpressions: [{ key: LABEL_AGENT_BLOCKED, operator: 'Exists' }] },
      parameterNotFoundAction: 'Allow', // no blocked Machine
    },
  },
  validations: [
    {
      expression: `${USER} != ${text(AGENT_USER_PREFIX)} + params.metadata.name`,
      message: `this agent is blocked by the label ${LABEL_AGENT_BLOCKED} on its Machine; take the label away to let it write again`,
      messageExpression: `'the agent of Machine ' + params.metadata.name + ' is blocked (' + params.metadata.labels[${text(LABEL_AGENT_BLOCKED)}] + '): take the label ${LABEL_AGENT_BLOCKED} away to let it write again'`,
    },
  ],
});

function match(group: string, resources: readonly string[]): Match {
  const operations: readonly Operation[] = ['CREATE', 'UPDATE', 'DELETE'];
  return { apiGroups: [group], apiVersions: ['*'], operations, resources };
}
