/**
 * Decides whether the Pods that an act evicts from a node fit on others, as kube-scheduler would filter them. Pods that wait for a node
 * and Pods of acts in work are placed before them, so that no free place is counted on twice. Pure.
 */
import { createDomainCounter, type Placed } from './domain-counts.ts';
import { explainNoRoom, findRoom, type RoomSearch } from './find-room.ts';
import { type Capacity, PENDING } from './index-of-nodes.ts';
import type { CapacityNode } from './node.ts';
import { type PlaceRequest, type Room, requested } from './node-checks.ts';
import type { CapacityPod, PodNeeds } from './pod.ts';
import { type Places, topologyRules } from './topology.ts';

export interface PlacementInput {
  readonly capacity: Capacity;
  /** The node that the act is for. */
  readonly node: string;
  /** Nodes of other acts in work. */
  readonly inWork: readonly string[];
}

export interface PodPlaces {
  /** The Pods that fit on no other node, with what is in the way. */
  readonly nowhere: readonly Misfit[];
  /** Names of the Pods whose needs cannot be read. */
  readonly unknown: readonly string[];
}

export interface Misfit {
  readonly pod: string;
  readonly because: string;
}

/** A denial names at most so many: for each, every node is read. */
const MAX_MISFITS = 5;

interface Fill {
  readonly capacity: Capacity;
  /** The nodes that no act in work leaves. */
  readonly rooms: readonly Room[];
  readonly places: Places;
  readonly moved: Placed[];
  /** By the key of needs. */
  readonly searches: Map<string, RoomSearch>;
}

export function planPlacement({ capacity, node, inWork }: PlacementInput): PodPlaces {
  const fill = createFill(capacity, new Set([...inWork, node]));
  // Sorted by name: the answer does not depend on the order of the ledger.
  const others = new Set(inWork.filter((each) => each !== node).toSorted());
  const first = [...waiting(capacity), ...[...others].flatMap((other) => evictedFrom(capacity, other))];
  for (const pod of first) if (pod.needs) place(fill, pod, pod.needs);
  const unknown: string[] = [];
  const nowhere: Misfit[] = [];
  for (const pod of evictedFrom(capacity, node)) {
    if (!pod.needs) unknown.push(pod.name);
    else if (nowhere.length < MAX_MISFITS) {
      const refused = place(fill, pod, pod.needs);
      if (refused) nowhere.push({ pod: pod.name, because: explainNoRoom(fill.rooms, refused) });
    }
  }
  return { nowhere, unknown };
}

const NONE: readonly CapacityPod[] = [];

function createFill(capacity: Capacity, leaving: ReadonlySet<string>): Fill {
  const rooms: Room[] = [];
  for (const slot of capacity.slots()) {
    const { node, cpu, memory } = slot;
    if (node && !leaving.has(node.name)) rooms.push({ slot, node, added: NONE, cpu, memory });
  }
  const moved: Placed[] = [];
  const counter = createDomainCounter({
    nodes: () => nodesOf(capacity),
    nodeOf: (pod) => stayingOn(capacity, leaving, pod),
    moved,
  });
  const places = { groups: capacity.groups, counter };
  return { capacity, rooms, places, moved, searches: new Map() };
}

/** A node that is left stays a domain of spreads, as for kube-scheduler, and its evicted Pods do not count on it. */
function stayingOn(
  capacity: Capacity,
  leaving: ReadonlySet<string>,
  { node: name = PENDING, isEvicted }: CapacityPod,
): CapacityNode | undefined {
  return isEvicted && leaving.has(name) ? undefined : capacity.slot(name)?.node;
}

function* nodesOf(capacity: Capacity): Iterable<CapacityNode> {
  for (const { node } of capacity.slots()) if (node) yield node;
}

/** The largest first: what is left over has room for the small ones. */
function evictedFrom(capacity: Capacity, node: string): readonly CapacityPod[] {
  const pods = [...(capacity.slot(node)?.pods.values() ?? [])].filter(({ isEvicted }) => isEvicted);
  return pods.toSorted(
    (a, b) =>
      requested(b, 'memory') - requested(a, 'memory') ||
      requested(b, 'cpu') - requested(a, 'cpu') ||
      (a.name < b.name ? -1 : 1),
  );
}

/** Pods that were created in place of evicted ones among them. Where kube-scheduler finds no node for a Pod, it takes no place. */
function waiting(capacity: Capacity): readonly CapacityPod[] {
  return evictedFrom(capacity, PENDING).filter(({ isUnschedulable }) => !isUnschedulable);
}

/** Places the Pod on the first node that takes it. Returns what no node could give. */
function place(fill: Fill, pod: CapacityPod, needs: PodNeeds): PlaceRequest | undefined {
  const { capacity, rooms, places, moved, searches } = fill;
  const key = keyOf(needs);
  const request: PlaceRequest = {
    needs,
    home: capacity.slot(pod.node ?? PENDING)?.node,
    rules: topologyRules({ pod, needs, key, places }),
    cpu: requested(pod, 'cpu'),
    memory: requested(pod, 'memory'),
  };
  const search = searches.get(key) ?? { kept: [], next: 0 };
  searches.set(key, search);
  const room = findRoom(rooms, search, request);
  if (!room) return request;
  room.added = [...room.added, pod];
  room.cpu -= request.cpu;
  room.memory -= request.memory;
  moved.push([pod, room.node]);
  return undefined;
}

function keyOf(needs: PodNeeds): string {
  return JSON.stringify([needs, ...needs.requests]);
}
