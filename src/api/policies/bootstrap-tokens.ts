import type { KubeObject } from '../../kube/objects/object.ts';
import {
  BOOTSTRAP_GROUP,
  bootstrapGroupOf,
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

/**
 * `data` of a Secret is base64, which CEL of Kubernetes cannot decode. Both groups up to the UID are 60 bytes, a multiple of three, so
 * that their encoding is a prefix of every value, and the 36 bytes of the UID are the 48 characters behind it. The lifetime is left
 * to the controller.
 */
const GROUPS_IN_BASE64 = Buffer.from(`${BOOTSTRAP_GROUP},${bootstrapGroupOf('')}`).toString('base64');
const UID_IN_BASE64 = 48;
/** A comma as the first, second or third of three encoded bytes: it would begin another group. */
const COMMA_IN_BASE64 = '^(.{4})*(L[A-P]..|.[CSiy][w-z].|..[AEIMQUYcgkosw048]s)';

const groups = "variables.data['auth-extra-groups']";
const groupsAllowed = [
  "'auth-extra-groups' in variables.data",
  `${groups}.startsWith(${celText(GROUPS_IN_BASE64)})`,
  `${groups}.size() == ${GROUPS_IN_BASE64.length + UID_IN_BASE64}`,
  `${groups}.substring(${GROUPS_IN_BASE64.length}).matches('^[A-Za-z0-9+/]*$')`,
  `!${groups}.substring(${GROUPS_IN_BASE64.length}).matches(${celText(COMMA_IN_BASE64)})`,
].join(' && ');

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
      expression: `variables.token.type == ${celText(TYPE)} && ${groupsAllowed}`,
      message: `expected a Secret of type ${TYPE} whose only groups are ${BOOTSTRAP_GROUP} and ${bootstrapGroupOf('<UID of a Machine>')}`,
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
