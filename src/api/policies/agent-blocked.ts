import type { KubeObject } from '../../kube/objects/object.ts';
import {
  AGENT_USER_PREFIX,
  GROUP,
  LABEL_AGENT_BLOCKED,
  NAMESPACE_AGENTS,
  POLICY_AGENT_BLOCKED,
  POLICY_AGENT_BLOCKED_OBJECT,
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
 *
 * For each request that it matches, also of other users, the API server reads all Machines: 2 ms CPU with a thousand. So what
 * agents write all the time, their Machine and their Lease, has the label itself, and a policy without parameters.
 */
const byMachine = policy({
  name: POLICY_AGENT_BLOCKED,
  description: `Denies every write of an agent whose Machine has the label ${LABEL_AGENT_BLOCKED}.`,
  match: [
    match(GROUP, ['remedyoperationjobs', 'remedyoperationjobs/*']),
    match('', ['nodes/status', 'events']),
    match('events.k8s.io', ['events']),
    match('coordination.k8s.io', ['leases'], ['CREATE', 'DELETE']),
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

/** The machine controller copies the label to the Lease. */
const byObject = policy({
  name: POLICY_AGENT_BLOCKED_OBJECT,
  description: `Denies every update of a Machine and a Lease with the label ${LABEL_AGENT_BLOCKED} by an agent.`,
  match: [
    match(GROUP, ['machines', 'machines/*'], ['UPDATE']),
    match('coordination.k8s.io', ['leases'], ['UPDATE']),
  ],
  namespaces: [NAMESPACE_AGENTS],
  conditions: { 'from-agent': FROM_AGENT },
  validations: [
    {
      expression: `!(has(oldObject.metadata.labels) && ${celText(LABEL_AGENT_BLOCKED)} in oldObject.metadata.labels)`,
      message: `this agent is blocked by the label ${LABEL_AGENT_BLOCKED} on its Machine; remove the label to let it write again`,
      messageExpression: `'the agent of Machine ' + oldObject.metadata.name + ' is blocked (' + oldObject.metadata.labels[${celText(LABEL_AGENT_BLOCKED)}] + '): remove the label ${LABEL_AGENT_BLOCKED} of the Machine to let it write again'`,
    },
  ],
});

export const agentBlocked: readonly KubeObject[] = [...byMachine, ...byObject];

function match(
  group: string,
  resources: readonly string[],
  operations: readonly Operation[] = ['CREATE', 'UPDATE', 'DELETE'],
): Match {
  return { apiGroups: [group], apiVersions: ['*'], operations, resources };
}
