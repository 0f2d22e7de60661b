/**
 * Finalizers are added and removed by a JSON patch that tests what it was planned upon: an apply that forgets to send
 * one would remove it. Pure.
 */
import type { KubeObject } from '../../objects/object.ts';
import type { JsonPatchOperation } from './declared-fields.ts';

const LIST = '/metadata/finalizers';

/** Undefined when nothing is to be done: it is there, or the object is being deleted and takes no new one. */
export function planAddFinalizer(
  { metadata }: KubeObject,
  finalizer: string,
): readonly JsonPatchOperation[] | undefined {
  const { finalizers = [], deletionTimestamp, resourceVersion } = metadata;
  if (finalizers.includes(finalizer) || deletionTimestamp !== undefined) return undefined;
  if (finalizers.length > 0) {
    return [
      { op: 'test', path: LIST, value: finalizers },
      { op: 'add', path: `${LIST}/-`, value: finalizer },
    ];
  }
  // A list that is absent cannot be tested: another manager may be creating it just now.
  return [
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
    { op: 'add', path: LIST, value: [finalizer] },
  ];
}

/** Undefined when it is not there. */
export function planRemoveFinalizer(
  { metadata }: KubeObject,
  finalizer: string,
): readonly JsonPatchOperation[] | undefined {
  const index = metadata.finalizers?.indexOf(finalizer) ?? -1;
  if (index < 0) return undefined;
  const path = `${LIST}/${index}`;
  return [
    { op: 'test', path, value: finalizer },
    { op: 'remove', path },
  ];
}
