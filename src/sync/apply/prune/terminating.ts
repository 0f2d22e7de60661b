/** Tells what keeps an object that is being deleted, and whether a commit waits for that. Pure. */
import { GROUP } from '../../../api/names.ts';
import { valueAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';

export function terminatingReason(object: KubeObject): string {
  const finalizers = finalizersOf(object);
  const blockers = finalizers.length > 0 ? `, finalizers ${finalizers.join(', ')}` : '';
  return `being deleted since ${object.metadata.deletionTimestamp ?? 'now'}${blockers}`;
}

/** Explains the wait of an object that a commit declares while an earlier deletion of it has not ended. */
export function declaredAgainReason(object: KubeObject): string {
  return `${terminatingReason(object)}; git declares it, so it is created again once that has ended`;
}

const OWN_PREFIX = `${GROUP}/`;

/**
 * Only finalizers of others keep it. Their controllers may never remove them, so no commit waits for that. Our own are removed
 * by our controllers, after a drain for example: that is a part of the commit.
 */
export function isKeptByOthers(object: KubeObject): boolean {
  const finalizers = finalizersOf(object);
  const isOurs = finalizers.some((finalizer) => finalizer.startsWith(OWN_PREFIX));
  return object.metadata.deletionTimestamp !== undefined && finalizers.length > 0 && !isOurs;
}

/** Those of a Namespace in `spec` keep it until it is empty. */
function finalizersOf(object: KubeObject): readonly string[] {
  const { finalizers = [] } = object.metadata;
  const ofContent = object.kind === 'Namespace' ? valueAt(object, 'spec', 'finalizers') : undefined;
  return [...finalizers, ...(Array.isArray(ofContent) ? ofContent.map(String) : [])];
}
