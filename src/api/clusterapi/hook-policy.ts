import type { KubeObject } from '../../kube/objects/object.ts';
import { POLICY_CLUSTERAPI_HOOK, PRINCIPAL_CLUSTERAPI } from '../names.ts';
import { isPrincipal, sameBut } from '../policies/cel.ts';
import { policy } from '../policies/policy.ts';

/** The prefix and the name of the hook, as Cluster API defines them. */
export const CLUSTER_API_DRAIN_HOOK = 'pre-drain.delete.hook.machine.cluster.x-k8s.io/kubenode';

const NEW = mapOf('object', 'annotations');
const OLD = mapOf('oldObject', 'annotations');

/** RBAC has no rights for a single annotation: with `patch` this account could replace each machine of Cluster API. */
export const clusterApiHook: readonly KubeObject[] = policy({
  name: POLICY_CLUSTERAPI_HOOK,
  description: `${PRINCIPAL_CLUSTERAPI} may change one annotation of a Machine of Cluster API.`,
  match: [
    { apiGroups: ['cluster.x-k8s.io'], apiVersions: ['*'], operations: ['UPDATE'], resources: ['machines'] },
  ],
  conditions: { 'from-kubenode': isPrincipal(PRINCIPAL_CLUSTERAPI) },
  validations: [
    {
      expression: [
        'object.spec == oldObject.spec',
        `${mapOf('object', 'labels')} == ${mapOf('oldObject', 'labels')}`,
        `${listOf('object', 'finalizers')} == ${listOf('oldObject', 'finalizers')}`,
        `${listOf('object', 'ownerReferences')} == ${listOf('oldObject', 'ownerReferences')}`,
        sameBut([CLUSTER_API_DRAIN_HOOK], NEW, OLD),
      ].join(' && '),
      message: `${PRINCIPAL_CLUSTERAPI} may change only the annotation ${CLUSTER_API_DRAIN_HOOK} of a Machine of Cluster API`,
    },
  ],
});

function mapOf(object: string, field: string): string {
  return `(has(${object}.metadata.${field}) ? ${object}.metadata.${field} : {})`;
}

function listOf(object: string, field: string): string {
  return `(has(${object}.metadata.${field}) ? ${object}.metadata.${field} : [])`;
}
