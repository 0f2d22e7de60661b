/** The pods of a node, as a drain reads them, and which of them it leaves alone. Pure. */
import { listAt, textAt, valueAt } from '../objects/json.ts';
import type { KubeObject } from '../objects/object.ts';

export interface DrainOptions {
  /** When the kubelet does not answer no pod can end: wait until it does, or leave all pods where they are. */
  readonly deadNode: 'Wait' | 'Skip';
  /** Only pods that request this resource, such as nvidia.com/gpu. */
  readonly requests?: string;
}

export type SkipReason = 'Static' | 'DaemonSet' | 'Completed' | 'NotRequested' | 'DeadNode';

export const SKIPPED_BECAUSE: Readonly<Record<SkipReason, string>> = {
  Static: 'a static pod: the API server only mirrors it',
  DaemonSet: 'its DaemonSet would create it again on this node',
  Completed: 'it has completed',
  NotRequested: 'it does not request the resource that is drained',
  DeadNode: 'the kubelet does not answer, so that it cannot end',
};

const COMPLETED: readonly unknown[] = ['Succeeded', 'Failed'];
const MIRROR = 'kubernetes.io/config.mirror';

/** Undefined for a pod that is to leave the node. */
export function skipReason(
  pod: KubeObject,
  { deadNode, requests }: DrainOptions,
  kubeletAnswers: boolean,
): SkipReason | undefined {
  if (isStatic(pod)) return 'Static';
  if (isOfDaemonSet(pod)) return 'DaemonSet';
  if (isCompleted(pod)) return 'Completed';
  if (!isRequesting(pod, requests)) return 'NotRequested';
  return kubeletAnswers || deadNode === 'Wait' ? undefined : 'DeadNode';
}

export function isCompleted(pod: KubeObject): boolean {
  return COMPLETED.includes(textAt(pod, 'status', 'phase'));
}

/** Tells whether the API server only mirrors the pod. */
export function isStatic({ metadata: { annotations = {}, ownerReferences = [] } }: KubeObject): boolean {
  return Object.hasOwn(annotations, MIRROR) || ownerReferences.some(({ kind }) => kind === 'Node');
}

function isOfDaemonSet({ metadata: { ownerReferences = [] } }: KubeObject): boolean {
  return ownerReferences.some(
    ({ controller, kind, apiVersion }) =>
      controller === true && kind === 'DaemonSet' && apiVersion.startsWith('apps/'),
  );
}

function isRequesting(pod: KubeObject, resource: string | undefined): boolean {
  if (resource === undefined) return true;
  const containers = ['containers', 'initContainers'].flatMap((field) => listAt(pod, 'spec', field));
  return [valueAt(pod, 'spec'), ...containers].some((holder) => {
    const quantity = valueAt(holder, 'resources', 'requests', resource);
    return (typeof quantity === 'string' || typeof quantity === 'number') && parseFloat(`${quantity}`) > 0;
  });
}

/** The UID is what an eviction is limited to: without it, a pod of the same name could be evicted instead. */
export function uidOf({ metadata: { uid, namespace, name } }: KubeObject): string {
  if (!uid) throw new Error(`Pod ${namespace}/${name}: its uid is missing`);
  return uid;
}

export function podName({ metadata: { namespace, name } }: KubeObject): string {
  return `${namespace}/${name}`;
}

/** As admission resolved it from the PriorityClass. */
export function priorityOf(pod: KubeObject): number {
  const priority = valueAt(pod, 'spec', 'priority');
  return typeof priority === 'number' ? priority : 0;
}
