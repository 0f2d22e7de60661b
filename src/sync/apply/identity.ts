/** Which object is meant, whatever version of its kind it was read in. */
import { GROUP } from '../../api/names.ts';
import type { KubeObject } from '../../kube/object.ts';

export interface ObjectId {
  readonly group: string;
  readonly kind: string;
  /** '' for what is cluster-scoped. */
  readonly namespace: string;
  readonly name: string;
}

export function idOf({ apiVersion, kind, metadata }: KubeObject): ObjectId {
  return { group: groupOf(apiVersion), kind, namespace: metadata.namespace ?? '', name: metadata.name };
}

export function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
}

/** The key of maps, and what people read: `apps/Deployment web/frontend`. */
export function keyOf({ group, kind, namespace, name }: ObjectId): string {
  return `${group ? `${group}/` : ''}${kind} ${namespace ? `${namespace}/` : ''}${name}`;
}

/**
 * Deleting one of these by mistake cannot be taken back: it takes others with it, or machines, or data.
 * They go in two phases, are always held without an acknowledgement, and are never replaced.
 */
const PROTECTED = new Set([
  'apiextensions.k8s.io/CustomResourceDefinition',
  '/Namespace',
  '/PersistentVolume',
  '/PersistentVolumeClaim',
  `${GROUP}/Cluster`,
  `${GROUP}/MachineSet`,
  `${GROUP}/Machine`,
]);

export function isProtected({ group, kind }: Pick<ObjectId, 'group' | 'kind'>): boolean {
  return PROTECTED.has(`${group}/${kind}`);
}

export function isCrd({ group, kind }: Pick<ObjectId, 'group' | 'kind'>): boolean {
  return group === 'apiextensions.k8s.io' && kind === 'CustomResourceDefinition';
}
