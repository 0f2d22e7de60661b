import type { KubeObject } from '../../kube/objects/object.ts';
import { PART_PREFIX } from '../audit/parts.ts';
import { NAMESPACE_AUDIT, POLICY_AUDIT_RECORD, PRINCIPAL_DEFENDER, PRINCIPAL_SYNC } from '../names.ts';
import { celText, isPrincipal, USER } from './cel.ts';
import { policy } from './policy.ts';

const DELETES = "request.operation == 'DELETE'";
/** It deletes what is left in a namespace that an administrator deletes. */
const NAMESPACE_CONTROLLER = celText('system:serviceaccount:kube-system:namespace-controller');
const LINES = "'lines' in";

/** A part has the key `lines`. The ConfigMap that names the newest part has not, and may change. */
export const auditRecord: readonly KubeObject[] = policy({
  name: POLICY_AUDIT_RECORD,
  description: 'Only sync and the Defender may write the audit record, and they may only append to it.',
  match: [
    {
      apiGroups: [''],
      apiVersions: ['v1'],
      operations: ['CREATE', 'UPDATE', 'DELETE'],
      resources: ['configmaps'],
    },
  ],
  namespaces: [NAMESPACE_AUDIT],
  conditions: {
    'of-the-record': `(${DELETES} ? oldObject : object).metadata.name.startsWith(${celText(PART_PREFIX)})`,
  },
  variables: {
    before: "request.operation == 'UPDATE' && has(oldObject.data) ? oldObject.data : {}",
    after: `!(${DELETES}) && has(object.data) ? object.data : {}`,
  },
  validations: [
    {
      expression: `${isPrincipal(PRINCIPAL_SYNC, PRINCIPAL_DEFENDER)} || (${DELETES} && ${USER} == ${NAMESPACE_CONTROLLER})`,
      message: `only ${PRINCIPAL_SYNC} and ${PRINCIPAL_DEFENDER} may write the audit record: read it with \`kubenode audit\``,
    },
    {
      expression:
        `!(${LINES} variables.before) || ` +
        `(${LINES} variables.after && variables.after['lines'].startsWith(variables.before['lines']))`,
      message: 'lines of the audit record cannot be changed or removed: append to them',
    },
  ],
});
