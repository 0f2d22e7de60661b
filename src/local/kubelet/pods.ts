/**
 * Decides what to do with the pods of the node: those that are bound to it are reported as running, and those that are deleted are ended.
 * Pure.
 */

import type { KubeObject } from '../../kube/objects/object.ts';
import { wholeSeconds } from '../../os/dates.ts';

export interface PodObject extends KubeObject {
  readonly spec?: {
    readonly containers?: readonly { readonly name: string; readonly image?: string }[];
  };
  readonly status?: { readonly phase?: string };
}

export interface PodAction {
  /** `End`: the pod was evicted or deleted. `Run`: the pod is bound to this node and was not reported yet. */
  readonly type: 'End' | 'Run';
  readonly pod: PodObject;
}

/** Plans the actions, in the order of the names of the pods. A pod that has ended is left to its owner. */
export function planPods(pods: readonly PodObject[]): readonly PodAction[] {
  return pods
    .toSorted((a, b) => (podKey(a) < podKey(b) ? -1 : 1))
    .flatMap((pod): readonly PodAction[] => {
      if (pod.metadata.deletionTimestamp !== undefined) return [{ type: 'End', pod }];
      return (pod.status?.phase ?? 'Pending') === 'Pending' ? [{ type: 'Run', pod }] : [];
    });
}

function podKey({ metadata: { namespace, name } }: PodObject): string {
  return `${namespace}/${name}`;
}

/** Returns the status of a pod that runs, to be applied. */
export function runningPod(
  { metadata: { name, namespace = '', uid = '' }, spec }: PodObject,
  at: Date,
): KubeObject {
  const time = wholeSeconds(at);
  const status = {
    phase: 'Running',
    startTime: time,
    conditions: ['Initialized', 'Ready', 'ContainersReady'].map((type) => ({
      type,
      status: 'True',
      lastTransitionTime: time,
    })),
    containerStatuses: (spec?.containers ?? []).map((container) => ({
      name: container.name,
      image: container.image ?? '',
      imageID: '',
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: time } },
    })),
  };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, uid }, status };
}
