/** Kinds whose objects sync deletes only with an acknowledgement, and never replaces. */
import { GROUP } from '../api/names.ts';
import type { ObjectId } from '../kube/objects/object-id.ts';

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
