/** The one view of Pods, made small: of 300,000 of them only their Node and their restarts are kept. */
import { MAX_VIEW_AGE_MS, staleReason } from '../../../kube/cache/freshness.ts';
import { createView, type View, type ViewOptions } from '../../../kube/cache/view.ts';
import { PODS } from '../../../kube/objects/core-kinds.ts';
import { listAt, textAt, valueAt } from '../../../kube/objects/json.ts';
import { type KubeObject, keptMetadata } from '../../../kube/objects/object.ts';
import { podRestarts } from './pod-restarts.ts';
import type { RestartedPods } from './restart-watch.ts';

const RESTARTED_ON = 'restartedOn';
/** A Pod without a Node, and one that has ended, restarts nothing. */
const RUNNING = 'spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed';

export function createPodView(options: Omit<ViewOptions<KubeObject>, 'resource'>): View {
  return createView({
    ...options,
    resource: PODS,
    fieldSelector: RUNNING,
    transform: trimPod,
    indexers: { [RESTARTED_ON]: (pod) => (podRestarts(pod).total > 0 ? nodeOf(pod) : []) },
  });
}

export function restartedPods({ store, reflector }: Pick<View, 'store' | 'reflector'>): RestartedPods {
  return {
    on: (node) => store.byIndex(RESTARTED_ON, node),
    staleReason: () => staleReason(reflector.freshness(), PODS.kind, MAX_VIEW_AGE_MS),
  };
}

/** A Pod that restarted nothing, which is most of them, keeps no list. */
export function trimPod({ apiVersion, kind, metadata, ...pod }: KubeObject): KubeObject {
  const containerStatuses = restartedIn(pod, 'containerStatuses');
  const initContainerStatuses = restartedIn(pod, 'initContainerStatuses');
  const startTime = valueAt(pod, 'status', 'startTime');
  const isRestarted = containerStatuses.length + initContainerStatuses.length > 0;
  return {
    apiVersion,
    kind,
    metadata: keptMetadata(metadata, ...(isRestarted ? (['ownerReferences'] as const) : [])),
    spec: { nodeName: valueAt(pod, 'spec', 'nodeName') },
    ...(isRestarted ? { status: { startTime, containerStatuses, initContainerStatuses } } : {}),
  };
}

function restartedIn(pod: object, field: string): readonly object[] {
  return listAt(pod, 'status', field)
    .filter((status) => valueAt(status, 'restartCount') !== 0)
    .map(trimStatus);
}

function trimStatus(status: unknown): object {
  const finishedAt = textAt(status, 'lastState', 'terminated', 'finishedAt');
  return { restartCount: valueAt(status, 'restartCount'), lastState: { terminated: { finishedAt } } };
}

function nodeOf(pod: KubeObject): readonly string[] {
  return [textAt(pod, 'spec', 'nodeName') ?? ''];
}
