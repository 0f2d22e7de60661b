/** The names and labels of the objects that are a control plane in its hub. */
import {
  GROUP,
  LABEL_CLUSTER,
  LABEL_MANAGED_BY,
  LABEL_MEMBER,
  LABEL_PART,
  MANAGED_BY,
} from '../../../../api/names.ts';
import type { PlaneSettings } from '../../../../local/state.ts';
import {
  API_SERVERS,
  type ApiServerMember,
  ETCD_MEMBERS,
  type EtcdMember,
  isApiServer,
  isEtcdMember,
  type MEMBERS,
  type RunMember,
} from '../driver.ts';

/** The roles of members. Each has one program, one Secret and one port. */
export type WorkloadRole = (typeof MEMBERS)[number];
/** The members of a control plane of this driver: one of each role, but several of etcd and API servers where the spec has them. */
export type WorkloadMember = WorkloadRole | EtcdMember | ApiServerMember;
const OTHERS = ['kube-controller-manager', 'kube-scheduler', 'kubenode-controllers'] as const;
/** All members that a control plane can have. */
export const WORKLOAD_MEMBERS: readonly WorkloadMember[] = [...ETCD_MEMBERS, ...API_SERVERS, ...OTHERS];

export function roleOf(member: WorkloadMember): WorkloadRole {
  if (isEtcdMember(member)) return 'etcd';
  return isApiServer(member) ? 'kube-apiserver' : member;
}

/** Has what tells how many members of etcd there are. */
export interface EtcdCount {
  readonly settings: Pick<PlaneSettings, 'etcdReplicas'>;
}

export function etcdMembersOf(plane: EtcdCount | undefined): readonly EtcdMember[] {
  return ETCD_MEMBERS.slice(0, plane?.settings.etcdReplicas ?? 1);
}

/** Has what tells how many API servers there are. Undefined: one. */
export interface ApiServerCount {
  readonly apiServers?: number | undefined;
}

export function apiServersOf(plane: ApiServerCount | undefined): readonly ApiServerMember[] {
  return API_SERVERS.slice(0, plane?.apiServers ?? 1);
}

export function workloadMembersOf(
  plane: (EtcdCount & ApiServerCount) | undefined,
): readonly WorkloadMember[] {
  return [...etcdMembersOf(plane), ...apiServersOf(plane), ...OTHERS];
}

export const RUN_PROGRAMS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
/** The members whose version and flags are those of a Cluster. */
export const RUN_WORKLOADS = [
  ...ETCD_MEMBERS,
  ...API_SERVERS,
  'kube-controller-manager',
  'kube-scheduler',
] as const satisfies readonly (RunMember & WorkloadMember)[];

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

/** When the Job that takes a snapshot was created, by the clock of hosting. */
export const ANNOTATION_TAKEN_AT = `${GROUP}/taken-at`;

/** Tells what a Job with the volume of backups does: `Backup`, `Drill` or `Restore`. */
export const ANNOTATION_TASK = `${GROUP}/task`;
/** The UID of the claim whose volume a Job writes. What it has written is lost with the claim. */
export const ANNOTATION_CLAIM = `${GROUP}/claim-uid`;
/** The list of the backups in the volume of a claim, as its last Job has reported it. It is lost with the claim. */
export const ANNOTATION_BACKUPS = `${GROUP}/backups`;

/** The ConfigMap with the record of the control plane. */
export const RECORD = 'kubenode-plane';
/** The Secret with every key and certificate. No pod mounts it. */
export const KEYS_SECRET = 'kubenode-keys';
/** The Job that takes a snapshot of etcd, and the claim of the volume that it is kept in. */
export const SNAPSHOT = 'etcd-snapshot';

/** The claim of the volume of backups, and the Job that writes or reads it. */
export const BACKUPS = 'etcd-backups';
/** Advises a person before a namespace is deleted: its claims end with it, and the volume of a class with reclaimPolicy Delete, too. */
export const KEEP_VOLUME = `set the volume of claim ${BACKUPS} to Retain (runbook etcd-backup)`;

export function isWorkloadMember(name: string): name is WorkloadMember {
  return WORKLOAD_MEMBERS.some((member) => member === name);
}

export function planeLabels(cluster: string): Readonly<Record<string, string>> {
  return { [LABEL_MANAGED_BY]: MANAGED_BY, [LABEL_CLUSTER]: cluster };
}

/** The labels of the pods that take a snapshot. */
export function snapshotLabels(cluster: string): Readonly<Record<string, string>> {
  return { ...planeLabels(cluster), [LABEL_PART]: SNAPSHOT };
}

/**
 * A second API server has the part of the first one, so that Service, policies and budget that exist select both, and a label of its own that
 * keeps its Deployment apart.
 */
export function memberLabels(cluster: string, member: WorkloadMember): Readonly<Record<string, string>> {
  const labels = { ...planeLabels(cluster), [LABEL_PART]: isApiServer(member) ? API_SERVERS[0] : member };
  return isApiServer(member) && member !== API_SERVERS[0] ? { ...labels, [LABEL_MEMBER]: member } : labels;
}

/** Tells which member a pod with these labels is of. */
export function memberOfLabels(labels: Readonly<Record<string, string>> = {}): string | undefined {
  return labels[LABEL_MEMBER] ?? labels[LABEL_PART];
}

/** Selects the pods of all members of etcd. */
export function etcdSelector(cluster: string, members: readonly EtcdMember[]): object {
  if (members.length === 1) return { matchLabels: memberLabels(cluster, 'etcd') };
  const matchExpressions = [{ key: LABEL_PART, operator: 'In', values: members }];
  return { matchLabels: planeLabels(cluster), matchExpressions };
}
