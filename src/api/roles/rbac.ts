/** Builds RBAC objects. */
import type { KubeObject } from '../../kube/objects/object.ts';
import { AGENT_GROUP, BOOTSTRAP_GROUP, NAMESPACE } from '../names.ts';
import { installed } from '../principals.ts';

const RBAC = 'rbac.authorization.k8s.io';

export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

export interface Subject {
  readonly kind: 'ServiceAccount' | 'Group';
  readonly name: string;
  readonly namespace?: string;
  readonly apiGroup?: string;
}

export const READ = ['get', 'list', 'watch'] as const;
/** Server-side apply needs create and patch. */
export const APPLY = ['create', 'patch'] as const;
/** `update` is for compare-and-swap on objects that two processes write. */
export const WRITE = ['create', 'patch', 'update', 'delete'] as const;
export const PATCH = ['patch'] as const;

/** A rule that reads as what it allows: verbs, group, resources, and names if limited to them. */
export function may(
  verbs: readonly string[],
  group: string,
  resources: readonly string[],
  resourceNames?: readonly string[],
): PolicyRule {
  const rule = { apiGroups: [group], resources, verbs };
  return resourceNames === undefined ? rule : { ...rule, resourceNames };
}

export function serviceAccount(name: string): Subject {
  return { kind: 'ServiceAccount', name, namespace: NAMESPACE };
}

export const agents: Subject = { kind: 'Group', name: AGENT_GROUP, apiGroup: RBAC };
export const bootstrappers: Subject = { kind: 'Group', name: BOOTSTRAP_GROUP, apiGroup: RBAC };

export function clusterRole(name: string, description: string, rules: readonly PolicyRule[]): KubeObject {
  return { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: installed(name, description), rules };
}

export function role(name: string, namespace: string, rules: readonly PolicyRule[]): KubeObject {
  const metadata = installed(name, `What ${name} may do in ${namespace}.`, namespace);
  return { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata, rules };
}

export function clusterRoleBinding(name: string, roleName: string, subjects: readonly Subject[]): KubeObject {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: installed(name, `Gives ClusterRole ${roleName} to its principal.`),
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: roleName },
    subjects,
  };
}

export interface RoleRef {
  readonly kind: 'ClusterRole' | 'Role';
  readonly name: string;
}

export function roleBinding(
  name: string,
  namespace: string,
  ref: RoleRef,
  subjects: readonly Subject[],
): KubeObject {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: 'RoleBinding',
    metadata: installed(name, `Gives ${ref.kind} ${ref.name} in ${namespace} to its principal.`, namespace),
    roleRef: { apiGroup: RBAC, ...ref },
    subjects,
  };
}
