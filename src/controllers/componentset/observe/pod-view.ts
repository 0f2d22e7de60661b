/** The one view of Pods, made small: of 300,000 of them only their Node and their restarts are kept. */
import { MAX_VIEW_AGE_MS, staleReason } from '../../../kube/cache/freshness.ts';
import { createView, type View, type ViewOptions } from '../../../kube/cache/view.ts';
import { PODS } from '../../../kube/objects/core-kinds.ts';
import { listAt, textAt, valueAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
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
  const { name, namespace, uid, resourceVersion } = metadata;
  const lists = ['containerStatuses', 'initContainerStatuses'].flatMap((field) => {
    const restarted = listAt(pod, 'status', field).filter((status) => valueAt(status, 'restartCount') !== 0);
    return restarted.length > 0 ? [[field, restarted.map(trimStatus)]] : [];
  });
  const status = { startTime: valueAt(pod, 'status', 'startTime'), ...Object.fromEntries(lists) };
  return {
    ...{ apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } },
    spec: { nodeName: valueAt(pod, 'spec', 'nodeName') },
    ...(lists.length > 0 ? { status } : {}),
  } as KubeObject;
}

function trimStatus(status: unknown): object {
  const finishedAt = textAt(status, 'lastState', 'terminated', 'finishedAt');
  return { restartCount: valueAt(status, 'restartCount'), lastState: { terminated: { finishedAt } } };
}

function nodeOf(pod: KubeObject): readonly string[] {
  return [textAt(pod, 'spec', 'nodeName') ?? ''];
}
