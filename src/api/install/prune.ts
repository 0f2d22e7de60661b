/** Decides which objects of an earlier version an installation removes. Pure. */
import { isRecord, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject, ManagedFields, Resource } from '../../kube/objects/object.ts';
import { objectIdOf, objectKey } from '../../kube/objects/object-id.ts';
import { LABEL_MANAGED_BY, MANAGED_BY, MANAGER_INSTALL } from '../names.ts';

const RBAC = 'rbac.authorization.k8s.io';
const ADMISSION = 'admissionregistration.k8s.io';

/**
 * The kinds that are pruned, in the order of their removal: what gives rights or refers to something before what it refers to.
 * Missing on purpose: CustomResourceDefinitions and Namespaces, with which objects of users would be deleted; the ledger, which
 * is of the Defender; Deployments and their limits, which depend on the options of each run.
 */
export const PRUNED_KINDS: readonly Resource[] = [
  resource(ADMISSION, 'ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings', false),
  resource(ADMISSION, 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies', false),
  resource(RBAC, 'ClusterRoleBinding', 'clusterrolebindings', false),
  resource(RBAC, 'RoleBinding', 'rolebindings', true),
  resource(RBAC, 'ClusterRole', 'clusterroles', false),
  resource(RBAC, 'Role', 'roles', true),
  resource('', 'ServiceAccount', 'serviceaccounts', true),
];

export const PRUNE_SELECTOR = `${LABEL_MANAGED_BY}=${MANAGED_BY}`;

function resource(group: string, kind: string, plural: string, namespaced: boolean): Resource {
  return { group, version: 'v1', kind, plural, namespaced };
}

export interface PruneEntry {
  readonly object: KubeObject;
  readonly act: 'delete' | 'keep';
  readonly because: string;
}

/** An entry for each object with our label that this version does not declare. In doubt it stays. */
export function planPrune(
  live: readonly KubeObject[],
  declared: readonly KubeObject[],
  kinds: readonly Resource[] = PRUNED_KINDS,
): readonly PruneEntry[] {
  const known = new Set(declared.map((object) => objectKey(objectIdOf(object))));
  return live.flatMap((object): readonly PruneEntry[] => {
    if (known.has(objectKey(objectIdOf(object)))) return [];
    const keep = keepReason(object, kinds);
    if (keep !== undefined) return [{ object, act: 'keep', because: keep }];
    return [
      { object, act: 'delete', because: 'an earlier version installed it, and this one does not have it' },
    ];
  });
}

/** A label alone is copied easily: the field manager shows who set it. */
function keepReason({ kind, metadata }: KubeObject, kinds: readonly Resource[]): string | undefined {
  if (!kinds.some((each) => each.kind === kind)) return `kind ${kind} is never removed`;
  if (metadata.labels?.[LABEL_MANAGED_BY] !== MANAGED_BY) return `it has no label ${PRUNE_SELECTOR}`;
  if (metadata.deletionTimestamp !== undefined) return 'it is being deleted';
  return otherOwnerReason(metadata.managedFields ?? []);
}

function otherOwnerReason(fields: readonly ManagedFields[]): string | undefined {
  const appliedBy = fields.filter(({ operation }) => operation === 'Apply');
  if (!appliedBy.some(ownsLabel)) return 'kubenode install did not set its label';
  const other = appliedBy.find(({ manager }) => manager !== MANAGER_INSTALL);
  return other && `${other.manager} applies it, too`;
}

function ownsLabel({ manager, fieldsV1 }: ManagedFields): boolean {
  if (manager !== MANAGER_INSTALL) return false;
  return isRecord(valueAt(fieldsV1, 'f:metadata', 'f:labels', `f:${LABEL_MANAGED_BY}`));
}
