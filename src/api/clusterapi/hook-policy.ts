import type { KubeObject } from '../../kube/objects/object.ts';
import {
  GROUP,
  NAMESPACE,
  POLICY_CLUSTERAPI_HOOK,
  POLICY_CLUSTERAPI_STATUS,
  PRINCIPAL_SYNC,
} from '../names.ts';
import { celList, isPrincipal, sameBut } from '../policies/cel.ts';
import { type Match, policy } from '../policies/policy.ts';

/** The prefix and the name of the hook, as Cluster API defines them. */
export const CLUSTER_API_DRAIN_HOOK = 'pre-drain.delete.hook.machine.cluster.x-k8s.io/kubenode';

const NEW = mapOf('object', 'annotations');
const OLD = mapOf('oldObject', 'annotations');

/** Also accounts of one Cluster, which an administrator makes for a management cluster. What git declares is not limited here. */
const FROM_KUBENODE = `has(request.userInfo.groups) && 'system:serviceaccounts:${NAMESPACE}' in request.userInfo.groups && !(${isPrincipal(PRINCIPAL_SYNC)})`;

/** RBAC has no rights for a single annotation or condition: with `patch` such an account could replace each machine of Cluster API. */
const hook = policy({
  name: POLICY_CLUSTERAPI_HOOK,
  description: `ServiceAccounts of ${NAMESPACE} may change one annotation of a Machine of Cluster API.`,
  match: [match('machines')],
  conditions: { 'from-kubenode': FROM_KUBENODE },
  validations: [
    {
      expression: [
        'object.spec == oldObject.spec',
        `${mapOf('object', 'labels')} == ${mapOf('oldObject', 'labels')}`,
        `${listOf('object', 'finalizers')} == ${listOf('oldObject', 'finalizers')}`,
        `${listOf('object', 'ownerReferences')} == ${listOf('oldObject', 'ownerReferences')}`,
        sameBut([CLUSTER_API_DRAIN_HOOK], NEW, OLD),
      ].join(' && '),
      message: `kubenode may change only the annotation ${CLUSTER_API_DRAIN_HOOK} of a Machine of Cluster API`,
    },
  ],
});

/** Written by kubenode on a Machine of Cluster API. */
export const CLUSTER_API_STEADY = `${GROUP}/Steady`;
export const OWNER_REMEDIATED = 'OwnerRemediated';
const OURS = celList([CLUSTER_API_STEADY, OWNER_REMEDIATED]);
const [CONDITIONS, OLD_CONDITIONS] = ['object', 'oldObject'].map(
  (object) =>
    `(has(${object}.status) && has(${object}.status.conditions) ? ${object}.status.conditions : [])`,
);

/** Cluster API replaces a machine whose health check failed and whose condition OwnerRemediated is False: kubenode writes the second only. */
const status = policy({
  name: POLICY_CLUSTERAPI_STATUS,
  description: `ServiceAccounts of ${NAMESPACE} may change two conditions of a Machine of Cluster API.`,
  match: [match('machines/status')],
  conditions: { 'from-kubenode': FROM_KUBENODE },
  variables: { conditions: CONDITIONS ?? '', before: OLD_CONDITIONS ?? '' },
  validations: [
    {
      expression: [
        `variables.conditions.all(c, c.type in ${OURS} || variables.before.exists(o, o == c))`,
        `variables.before.all(o, o.type in ${OURS} || variables.conditions.exists(c, c == o))`,
        ...['nodeRef', 'phase', 'initialization', 'deletion'].map(sameStatus),
      ].join(' && '),
      message: `kubenode may change only the conditions ${CLUSTER_API_STEADY} and ${OWNER_REMEDIATED} of a Machine of Cluster API`,
    },
    {
      expression:
        `!variables.conditions.exists(c, c.type == '${OWNER_REMEDIATED}' && !variables.before.exists(o, o == c)) || ` +
        `variables.before.exists(o, o.type == 'HealthCheckSucceeded' && o.status == 'False')`,
      message: `kubenode may set ${OWNER_REMEDIATED} only on a Machine that has failed its health check`,
    },
  ],
});

export const clusterApiWrites: readonly KubeObject[] = [...hook, ...status];

function match(resource: string): Match {
  return {
    apiGroups: ['cluster.x-k8s.io'],
    apiVersions: ['*'],
    operations: ['UPDATE'],
    resources: [resource],
  };
}

function sameStatus(field: string): string {
  const [now, before] = ['object', 'oldObject'].map(
    (object) =>
      `(has(${object}.status) && has(${object}.status.${field}) ? dyn(${object}.status.${field}) : dyn(''))`,
  );
  return `${now} == ${before}`;
}

function mapOf(object: string, field: string): string {
  return `(has(${object}.metadata.${field}) ? ${object}.metadata.${field} : {})`;
}

function listOf(object: string, field: string): string {
  return `(has(${object}.metadata.${field}) ? ${object}.metadata.${field} : [])`;
}
