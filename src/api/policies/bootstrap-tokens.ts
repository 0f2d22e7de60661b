import type { KubeObject } from '../../kube/objects/object.ts';
import {
  BOOTSTRAP_GROUP,
  LABEL_MACHINE,
  NAMESPACE_KUBE_SYSTEM,
  POLICY_BOOTSTRAP_TOKENS,
  PRINCIPAL_MACHINE,
} from '../names.ts';
import { celText, isPrincipal } from './cel.ts';
import { policy } from './policy.ts';

const TYPE = 'bootstrap.kubernetes.io/token';
/** Other fields would let the token do more: `usage-bootstrap-signing`, further groups. */
const FIELDS = [
  'token-id',
  'token-secret',
  'expiration',
  'usage-bootstrap-authentication',
  'auth-extra-groups',
];

/** As CEL sees it: `data` of a Secret is encoded, and CEL of Kubernetes cannot decode. The lifetime is left to the controller. */
const GROUP_IN_BASE64 = Buffer.from(BOOTSTRAP_GROUP).toString('base64');

/** RBAC can limit neither type nor name of a Secret that is created, so this policy does. It concerns one account. */
export const bootstrapTokens: readonly KubeObject[] = policy({
  name: POLICY_BOOTSTRAP_TOKENS,
  description: `Of the Secrets in ${NAMESPACE_KUBE_SYSTEM}, ${PRINCIPAL_MACHINE} writes bootstrap tokens of joining hosts only.`,
  match: [
    {
      apiGroups: [''],
      apiVersions: ['*'],
      operations: ['CREATE', 'UPDATE', 'DELETE'],
      resources: ['secrets'],
    },
  ],
  namespaces: [NAMESPACE_KUBE_SYSTEM],
  conditions: { 'from-the-machine-controller': isPrincipal(PRINCIPAL_MACHINE) },
  variables: {
    token: "request.operation == 'DELETE' ? oldObject : object",
    data: 'has(variables.token.data) ? variables.token.data : {}',
  },
  validations: [
    {
      expression: "request.operation != 'UPDATE'",
      message: 'a bootstrap token is never changed: delete it and create another one',
    },
    {
      expression: `variables.token.type == ${celText(TYPE)} && 'auth-extra-groups' in variables.data && variables.data['auth-extra-groups'] == ${celText(GROUP_IN_BASE64)}`,
      message: `expected a Secret of type ${TYPE} whose only group is ${BOOTSTRAP_GROUP}`,
    },
    {
      expression: `variables.data.all(k, k in [${FIELDS.map(celText).join(', ')}])`,
      message: `a bootstrap token of a joining host may have only the fields ${FIELDS.join(', ')}`,
    },
    {
      expression: `has(variables.token.metadata.labels) && ${celText(LABEL_MACHINE)} in variables.token.metadata.labels`,
      message: `a bootstrap token needs the label ${LABEL_MACHINE}: it is for one Machine`,
    },
    {
      expression: "'expiration' in variables.data",
      message: 'a bootstrap token must expire: set expiration',
    },
  ],
});
