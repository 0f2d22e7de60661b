/**
 * Observes all Pods and what they take of each Node, while a policy asks for capacity. Undefined until the Pods were listed, and when
 * they were not heard of for too long: then such a policy denies.
 */
import type { DefenderPolicy } from '../../../api/generated/types.ts';
import type { Store } from '../../../kube/cache/store.ts';
import { isCompleted, podName } from '../../../kube/drain/pods.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { asksForCapacity } from '../../capacity/asked.ts';
import { type Capacity, type CapacityIndex, createCapacityIndex } from '../../capacity/index-of-nodes.ts';
import { capacityNode } from '../../capacity/node.ts';
import { capacityPod, isGated } from '../../capacity/pod.ts';
import { MAX_AGE_MS, type SignView } from './signs.ts';

export interface CapacityView {
  current(): Capacity | undefined;
  /** Resolves when all Pods were listed, if a policy asks for them. Rejects when the signal is aborted first. */
  listed(signal: AbortSignal): Promise<void>;
  close(): void;
}

export interface CapacityViewOptions {
  readonly policies: Pick<Store<DefenderPolicy>, 'list' | 'subscribe'>;
  readonly nodes: Pick<Store, 'subscribe'>;
  /** Creates the view of all Pods. */
  readonly open: () => SignView;
}

interface OpenCapacity {
  readonly view: SignView;
  readonly index: CapacityIndex;
  close(): void;
}

export function createCapacityView(options: CapacityViewOptions): CapacityView {
  let opened: OpenCapacity | undefined;
  const leave = options.policies.subscribe({ added: refresh, updated: refresh, removed: refresh });
  return {
    current: () =>
      opened?.view.store.hasSynced() && opened.view.reflector.freshness().ageMs <= MAX_AGE_MS
        ? opened.index
        : undefined,
    listed: async (signal) => await opened?.view.reflector.synced(signal),
    close() {
      leave();
      opened?.close();
    },
  };

  function refresh(): void {
    const isAsked = options.policies.list().some(({ spec }) => asksForCapacity(spec.capacity));
    if (isAsked === (opened !== undefined)) return;
    opened?.close();
    opened = isAsked ? openCapacity(options) : undefined;
  }
}

function openCapacity({ nodes, open }: CapacityViewOptions): OpenCapacity {
  const view = open();
  const index = createCapacityIndex();
  const closing = new AbortController();
  const putNode = (node: KubeObject): void => index.putNode(capacityNode(node));
  const putPod = (pod: KubeObject): void => {
    if (isCompleted(pod) || isGated(pod)) index.removePod(podName(pod));
    else index.putPod(capacityPod(pod));
  };
  const leaves = [
    nodes.subscribe({
      added: putNode,
      updated: putNode,
      removed: ({ metadata }) => index.removeNode(metadata.name),
    }),
    view.store.subscribe({ added: putPod, updated: putPod, removed: (pod) => index.removePod(podName(pod)) }),
  ];
  void view.reflector.run(closing.signal);
  return {
    view,
    index,
    close() {
      closing.abort();
      for (const leave of leaves) leave();
    },
  };
}
