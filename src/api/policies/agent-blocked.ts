import type { KubeObject } from '../../kube/objects/object.ts';
import {
  AGENT_USER_PREFIX,
  GROUP,
  LABEL_AGENT_BLOCKED,
  NAMESPACE_AGENTS,
  POLICY_AGENT_BLOCKED,
} from '../names.ts';
import { FROM_AGENT } from './agent-own-objects.ts';
import { celText, USER } from './cel.ts';
import { type Match, type Operation, policy } from './policy.ts';

/** The namespaces in which RBAC lets agents write: heartbeat Leases, and Events about cluster-scoped objects. */
const NAMESPACES = [NAMESPACE_AGENTS, 'default'];

/**
 * Kubernetes cannot revoke a client certificate. Until it expires, the label on the Machine blocks its writes.
 * Certificate requests are left to the approver, which approves none of a blocked agent.
 *
 * The match is as narrow as the permissions of agents. A policy whose parameter kind is not served denies every request
 * that it matches, before it evaluates conditions: with `*` a missing CRD would stop every write in the cluster.
 */
export const agentBlocked: readonly KubeObject[] = policy({
  name: POLICY_AGENT_BLOCKED,
  description: `Denies every write of an agent whose Machine has the label ${LABEL_AGENT_BLOCKED}.`,
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
      expression: `${USER} != ${celText(AGENT_USER_PREFIX)} + params.metadata.name`,
      message: `this agent is blocked by the label ${LABEL_AGENT_BLOCKED} on its Machine; remove the label to let it write again`,
      messageExpression: `'the agent of Machine ' + params.metadata.name + ' is blocked (' + params.metadata.labels[${celText(LABEL_AGENT_BLOCKED)}] + '): remove the label ${LABEL_AGENT_BLOCKED} to let it write again'`,
    },
  ],
});

function match(group: string, resources: readonly string[]): Match {
  const operations: readonly Operation[] = ['CREATE', 'UPDATE', 'DELETE'];
  return { apiGroups: [group], apiVersions: ['*'], operations, resources };
}
