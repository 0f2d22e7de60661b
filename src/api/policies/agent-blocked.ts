import type { KubeObject } from '../../kube/object.ts';
import { AGENT_USER_PREFIX, LABEL_AGENT_BLOCKED, POLICY_AGENT_BLOCKED } from '../names.ts';
import { EVERYTHING, FROM_AGENT, WHAT } from './agent-own-objects.ts';
import { text, USER } from './cel.ts';
import { policy } from './policy.ts';

/**
 * Kubernetes cannot revoke a client certificate. Until it ends, the label on the Machine takes its power away.
 * Requests for certificates are left to the approver, which approves none of them.
 */
export const agentBlocked: readonly KubeObject[] = policy({
  name: POLICY_AGENT_BLOCKED,
  description: `Refuses every write of an agent whose Machine has the label ${LABEL_AGENT_BLOCKED}.`,
  match: [EVERYTHING],
  conditions: {
    'from-agent': FROM_AGENT,
    'no-certificate-request': `!((${WHAT}) in ['certificates.k8s.io/certificatesigningrequests'])`,
  },
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
