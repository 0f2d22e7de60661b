/** Kinds whose objects sync deletes only when acknowledged, and never replaces. */
import { GROUP } from '../api/names.ts';
import type { ObjectId } from '../kube/objects/object-id.ts';

/**
 * A delete of one of these cannot be undone: it deletes other objects, machines or data too. It needs an acknowledgement
 * and takes two reconciles: the first marks the object, the second deletes it.
 */
const PROTECTED = new Set([
  'apiextensions.k8s.io/CustomResourceDefinition',
  '/Namespace',
  '/PersistentVolume',
  '/PersistentVolumeClaim',
  `${GROUP}/Cluster`,
  // Without it sync reads no further commit, so that no revert brings it back; its gates in force and accepted heads are in its status.
  `${GROUP}/Pipeline`,
  `${GROUP}/MachineSet`,
  `${GROUP}/Machine`,
]);

export function isProtected({ group, kind }: Pick<ObjectId, 'group' | 'kind'>): boolean {
  return PROTECTED.has(`${group}/${kind}`);
}

/** Kinds of which the admission policy `kubenode-git-only` takes writes of sync only: they limit what may happen. */
const GIT_ONLY: ReadonlySet<string> = new Set([`${GROUP}/NodeRemedier`, `${GROUP}/DefenderPolicy`]);

export function isGitOnly({ group, kind }: Pick<ObjectId, 'group' | 'kind'>): boolean {
  return GIT_ONLY.has(`${group}/${kind}`);
}

export function isCrdId({ group, kind }: Pick<ObjectId, 'group' | 'kind'>): boolean {
  return group === 'apiextensions.k8s.io' && kind === 'CustomResourceDefinition';
}

export function isPipelineId({ group, kind }: Pick<ObjectId, 'group' | 'kind'>): boolean {
  return group === GROUP && kind === 'Pipeline';
}

export function isClusterId({ group, kind }: Pick<ObjectId, 'group' | 'kind'>): boolean {
  return group === GROUP && kind === 'Cluster';
}
