/** Builds the namespace of a control plane, the rights of hosting in it, the volume of its etcd, and its disruption budgets. Pure. */
import { NAMESPACE, PRINCIPAL_HOSTING } from '../../../../../api/names.ts';
import { HOSTING_TENANT } from '../../../../../api/roles/controllers.ts';
import type { KubeObject, Resource } from '../../../../../kube/objects/object.ts';
import { optional } from '../../../../../kube/objects/optional.ts';
import { type EtcdMember, MEMBERS, type PlaneOwner } from '../../driver.ts';
import {
  ANNOTATION_OWNER_UID,
  BACKUPS,
  etcdMembersOf,
  etcdSelector,
  memberLabels,
  planeLabels,
  planeNamespace,
  SNAPSHOT,
  snapshotLabels,
} from '../names.ts';
import type { WorkloadPlane } from '../plane.ts';

export const ROLE_BINDINGS: Resource = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'RoleBinding',
  plural: 'rolebindings',
  namespaced: true,
};
export const VOLUME_CLAIMS: Resource = {
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  namespaced: true,
};
export const DISRUPTION_BUDGETS: Resource = {
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  namespaced: true,
};

export function namespaceObject({ name, uid }: PlaneOwner): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: planeNamespace(name),
      labels: { ...planeLabels(name), 'pod-security.kubernetes.io/enforce': 'restricted' },
      annotations: { [ANNOTATION_OWNER_UID]: uid },
    },
  };
}

/** The right to read Secrets is given in this namespace only. */
export function tenantBinding({ name }: PlaneOwner): KubeObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: HOSTING_TENANT, namespace: planeNamespace(name), labels: planeLabels(name) },
    roleRef: { apiGroup: ROLE_BINDINGS.group, kind: 'ClusterRole', name: HOSTING_TENANT },
    subjects: [{ kind: 'ServiceAccount', name: PRINCIPAL_HOSTING, namespace: NAMESPACE }],
  };
}

export interface VolumeParts {
  readonly storageGiB: number;
  readonly storageClass: string | undefined;
}

/** Returns the claim of a member of etcd. */
export function volumeClaim(owner: PlaneOwner, parts: VolumeParts, member: EtcdMember = 'etcd'): KubeObject {
  return claimNamed(owner, parts, { name: member, labels: memberLabels(owner.name, member) });
}

/** It has room for the last snapshot, the next one and the copy that is opened, each with a database of the quota, and for their logs. */
export function snapshotGiB({ placement, settings }: Pick<WorkloadPlane, 'placement' | 'settings'>): number {
  return Math.max(placement.storageGiB, Math.ceil((3 * settings.quotaMiB) / 1024) + 1);
}

/** Returns the claim of the volume of snapshots. */
export function snapshotClaim(owner: PlaneOwner, parts: VolumeParts): KubeObject {
  return claimNamed(owner, parts, { name: SNAPSHOT, labels: snapshotLabels(owner.name) });
}

/** It has room for four databases of the quota: one that is kept, the next one, its copy, and one more. Most databases are far smaller. */
export function backupsGiB({ placement, settings }: Pick<WorkloadPlane, 'placement' | 'settings'>): number {
  return Math.max(2 * placement.storageGiB, Math.ceil((4 * settings.quotaMiB) / 1024) + 1);
}

/** Returns the claim of the volume of backups. */
export function backupsClaim(
  owner: PlaneOwner,
  plane: Pick<WorkloadPlane, 'placement' | 'settings'>,
  storageClass: string,
): KubeObject {
  const parts = { storageGiB: backupsGiB(plane), storageClass };
  return claimNamed(owner, parts, { name: BACKUPS, labels: snapshotLabels(owner.name) });
}

function claimNamed(
  { name, uid }: PlaneOwner,
  { storageGiB, storageClass }: VolumeParts,
  metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> },
): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      ...metadata,
      namespace: planeNamespace(name),
      annotations: { [ANNOTATION_OWNER_UID]: uid },
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: `${storageGiB}Gi` } },
      ...optional('storageClassName', storageClass),
    },
  };
}

/**
 * Not minAvailable: with one replica it would block every drain of a node. The members of etcd have one budget: while one is away, no other one
 * is evicted.
 */
export function disruptionBudgets(plane: Pick<WorkloadPlane, 'cluster' | 'settings'>): readonly KubeObject[] {
  const { cluster } = plane;
  return MEMBERS.map((member) => ({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: {
      name: member,
      namespace: planeNamespace(cluster),
      labels: memberLabels(cluster, member),
    },
    spec: {
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector:
        member === 'etcd'
          ? etcdSelector(cluster, etcdMembersOf(plane))
          : { matchLabels: memberLabels(cluster, member) },
    },
  }));
}
