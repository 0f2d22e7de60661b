/** Which changes of an object are worth a reconcile: heartbeats and bookkeeping are not. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { isRecord, valueAt } from '../objects/json.ts';
import type { KubeObject } from '../objects/object.ts';

/** Asked only about changes of one object: what is added or removed always counts. */
export type Changed<T extends KubeObject = KubeObject> = (before: T, after: T) => boolean;

/** Fields that the API server and heartbeats write without changing the content. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  'resourceVersion',
  'managedFields',
  'renewTime',
  'lastHeartbeatTime',
  'lastProbeTime',
  'heartbeatTime',
]);

/** The spec changed, or the object is being deleted. Objects without a generation (Node, ConfigMap) always count. */
export function generationChanged(before: KubeObject, after: KubeObject): boolean {
  const { generation, deletionTimestamp } = after.metadata;
  return (
    generation === undefined ||
    generation !== before.metadata.generation ||
    deletionTimestamp !== before.metadata.deletionTimestamp
  );
}

/** Any change except heartbeats and the server's bookkeeping. */
export function contentChanged(before: KubeObject, after: KubeObject): boolean {
  return !isDeepStrictEqual(content(before), content(after));
}

/** Spec, labels, annotations, finalizers, deletion or conditions; other parts of the status do not count. */
export function specOrConditionsChanged(before: KubeObject, after: KubeObject): boolean {
  return !isDeepStrictEqual(specAndConditions(before), specAndConditions(after));
}

/** A part of the object, such as `(node) => node.spec.taints`. */
export function partChanged<T extends KubeObject>(part: (object: T) => unknown): Changed<T> {
  return (before, after) => !isDeepStrictEqual(part(before), part(after));
}

export function anyOf<T extends KubeObject>(...predicates: readonly Changed<T>[]): Changed<T> {
  return (before, after) => predicates.some((changed) => changed(before, after));
}

function specAndConditions(object: KubeObject): unknown {
  const { status: _, ...rest } = object;
  return content({ ...rest, conditions: valueAt(object, 'status', 'conditions') });
}

function content(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(content);
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([field]) => !BOOKKEEPING.has(field));
  return Object.fromEntries(kept.map(([field, part]) => [field, content(part)]));
}
