/** Keeps what Pods take of each node current with every change, so that a decision adds nothing up. */
import type { CapacityNode } from './node.ts';
import type { CapacityPod } from './pod.ts';
import { createPodGroups, type PodGroups } from './pod-groups.ts';
import { type Amounts, addTo, amountOf } from './requests.ts';

/** A node with its Pods. */
export interface Slot {
  readonly node: CapacityNode | undefined;
  readonly pods: ReadonlyMap<string, CapacityPod>;
  readonly used: Amounts;
  /** Number of its Pods whose needs cannot be read. */
  readonly unknown: number;
  /** The free amounts of the resources that every decision reads. */
  readonly cpu: number;
  readonly memory: number;
}

export interface Capacity {
  slots(): Iterable<Slot>;
  slot(node: string): Slot | undefined;
  readonly groups: PodGroups;
  /** Number of all Pods whose needs cannot be read. */
  readonly unknown: number;
}

export interface CapacityIndex extends Capacity {
  putNode(node: CapacityNode): void;
  removeNode(name: string): void;
  putPod(pod: CapacityPod): void;
  removePod(name: string): void;
}

/** The slot of Pods that have no node yet. */
export const PENDING = '';

interface OpenSlot extends Slot {
  node: CapacityNode | undefined;
  readonly pods: Map<string, CapacityPod>;
  readonly used: Map<string, number>;
  unknown: number;
  cpu: number;
  memory: number;
}

export function createCapacityIndex(): CapacityIndex {
  const slots = new Map<string, OpenSlot>();
  const places = new Map<string, string>();
  const groups = createPodGroups();
  const unknown = new Set<string>();
  return {
    slots: () => slots.values(),
    slot: (node) => slots.get(node),
    groups,
    get unknown() {
      return unknown.size;
    },
    putNode(node) {
      const slot = slotOf(node.name);
      slot.node = node;
      countFree(slot);
    },
    removeNode(name) {
      const slot = slots.get(name);
      if (!slot) return;
      slot.node = undefined;
      countFree(slot);
      dropEmpty(name, slot);
    },
    putPod(pod) {
      removePod(pod.name);
      const place = pod.node ?? PENDING;
      const slot = slotOf(place);
      places.set(pod.name, place);
      slot.pods.set(pod.name, pod);
      count(slot, pod, 1);
      groups.add(pod);
      if (!pod.needs) unknown.add(pod.name);
    },
    removePod,
  };

  function removePod(name: string): void {
    const place = places.get(name);
    const slot = place === undefined ? undefined : slots.get(place);
    const pod = slot?.pods.get(name);
    if (place === undefined || !slot || !pod) return;
    places.delete(name);
    slot.pods.delete(name);
    groups.remove(pod);
    unknown.delete(name);
    count(slot, pod, -1);
    dropEmpty(place, slot);
  }

  function slotOf(name: string): OpenSlot {
    const found = slots.get(name);
    if (found) return found;
    const slot: OpenSlot = {
      node: undefined,
      pods: new Map(),
      used: new Map(),
      unknown: 0,
      cpu: 0,
      memory: 0,
    };
    slots.set(name, slot);
    return slot;
  }

  function dropEmpty(name: string, { node, pods }: Slot): void {
    if (!node && pods.size === 0) slots.delete(name);
  }
}

function count(slot: OpenSlot, { needs }: CapacityPod, sign: 1 | -1): void {
  if (needs) addTo(slot.used, needs.requests, sign);
  else slot.unknown += sign;
  countFree(slot);
}

function countFree(slot: OpenSlot): void {
  const { node, used } = slot;
  slot.cpu = amountOf(node?.allocatable, 'cpu') - amountOf(used, 'cpu');
  slot.memory = amountOf(node?.allocatable, 'memory') - amountOf(used, 'memory');
}
