/** The names and labels of the objects that are a control plane in its hub. */
import { GROUP, LABEL_CLUSTER, LABEL_MANAGED_BY, LABEL_PART, MANAGED_BY } from '../../../../api/names.ts';
import { MEMBERS } from '../driver.ts';

/** The members of a control plane of this driver: one of each. */
export type WorkloadMember = (typeof MEMBERS)[number];

export const RUN_PROGRAMS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;

export function planeNamespace(cluster: string): string {
  return `kn-${cluster}`;
}

/** Whose namespace it is. Another Cluster of the same name has another UID. */
export const ANNOTATION_OWNER_UID = `${GROUP}/cluster-uid`;
/** Whether hosting was given the right to read what is in the namespace: from then on, what it cannot read is not absent. */
export const ANNOTATION_READABLE = `${GROUP}/readable`;

/** The digest of what the pod of a member was made from: version, flags, requests and image. */
export const ANNOTATION_RUN = `${GROUP}/run`;
/** The digest of its container as hosting has written it: another one was edited by others. */
export const ANNOTATION_CONTAINER = `${GROUP}/container`;
/** The version of its program. */
export const ANNOTATION_VERSION = `${GROUP}/version`;

/** The ConfigMap with the record of the control plane. */
export const RECORD = 'kubenode-plane';
/** The Secret with every key and certificate. No pod mounts it. */
export const KEYS_SECRET = 'kubenode-keys';
/** The claim of the volume of etcd. */
export const VOLUME = 'etcd';

export function isWorkloadMember(name: string): name is WorkloadMember {
  return MEMBERS.some((member) => member === name);
}

export function planeLabels(cluster: string): Readonly<Record<string, string>> {
  return { [LABEL_MANAGED_BY]: MANAGED_BY, [LABEL_CLUSTER]: cluster };
}

export function memberLabels(cluster: string, member: WorkloadMember): Readonly<Record<string, string>> {
  return { ...planeLabels(cluster), [LABEL_PART]: member };
}
