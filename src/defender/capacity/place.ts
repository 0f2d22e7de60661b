/**
 * Decides whether the Pods that an act evicts from a node fit on others, as kube-scheduler would filter them. Pods of acts in work are
 * placed before them, so that two acts never count on the same free place. Pure.
 */
import { ownValue } from '../../kube/objects/json.ts';
import { type Capacity, PENDING, type Slot } from './index-of-nodes.ts';
import type { CapacityNode } from './node.ts';
import { matchesNode, refusingTaint } from './node-rules.ts';
import type { CapacityPod, PodNeeds } from './pod.ts';
import { type Places, type TopologyRule, topologyRules } from './topology.ts';

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
  readonly leaving: ReadonlySet<string>;
  /** The nodes that no act in work leaves. */
  readonly rooms: readonly Room[];
}

/** A node while Pods are placed on it, one after the other. */
interface Room {
  readonly slot: Slot;
  readonly node: CapacityNode;
  readonly added: CapacityPod[];
  /** Free amounts of the resources by which most Pods fail: plain numbers, because each Pod reads each node. */
  cpu: number;
  memory: number;
}

export function planPlacement({ capacity, node, inWork }: PlacementInput): PodPlaces {
  const leaving = new Set([...inWork, node]);
  const fill: Fill = { capacity, leaving, rooms: roomsOf(capacity, leaving) };
  // Sorted by name: the answer does not depend on the order of the ledger.
  for (const other of new Set(inWork.filter((each) => each !== node).toSorted())) {
    for (const pod of evictedFrom(capacity, other)) place(fill, pod);
  }
  const evicted = evictedFrom(capacity, node);
  const unknown = evicted.filter(({ needs }) => !needs).map(({ name }) => name);
  const nowhere: Misfit[] = [];
  for (const pod of evicted) {
    const because = nowhere.length < MAX_MISFITS ? place(fill, pod) : undefined;
    if (because !== undefined) nowhere.push({ pod: pod.name, because });
  }
  return { nowhere, unknown };
}

function roomsOf(capacity: Capacity, leaving: ReadonlySet<string>): readonly Room[] {
  const rooms: Room[] = [];
  for (const slot of capacity.slots()) {
    const { node } = slot;
    if (!node || leaving.has(node.name)) continue;
    rooms.push({ slot, node, added: [], cpu: freeIn(slot, 'cpu'), memory: freeIn(slot, 'memory') });
  }
  return rooms;
}

function freeIn({ node, used }: Slot, resource: string): number {
  return (node?.allocatable?.get(resource) ?? 0) - (used.get(resource) ?? 0);
}

/** The largest first: what is left over has room for the small ones. */
function evictedFrom(capacity: Capacity, node: string): readonly CapacityPod[] {
  const pods = [...(capacity.slot(node)?.pods.values() ?? [])].filter(({ isEvicted }) => isEvicted);
  return pods.toSorted(
    (a, b) =>
      sizeOf(b, 'memory') - sizeOf(a, 'memory') ||
      sizeOf(b, 'cpu') - sizeOf(a, 'cpu') ||
      (a.name < b.name ? -1 : 1),
  );
}

function sizeOf({ needs }: CapacityPod, resource: string): number {
  return needs?.requests.get(resource) ?? 0;
}

/** Places the Pod on the first node that takes it, or returns why none does. */
function place(fill: Fill, pod: CapacityPod): string | undefined {
  const { needs } = pod;
  if (!needs) return undefined;
  const { capacity, rooms } = fill;
  const request: Request = {
    needs,
    home: capacity.slot(pod.node ?? PENDING)?.node,
    rules: topologyRules(pod, needs, placesOf(fill)),
    cpu: sizeOf(pod, 'cpu'),
    memory: sizeOf(pod, 'memory'),
  };
  const objections: Objections = new Map();
  const room = rooms.find((each) => !isRefused(each, request, objections));
  if (!room) return explain(objections);
  room.added.push(pod);
  room.cpu -= request.cpu;
  room.memory -= request.memory;
  return undefined;
}

/** By cause: the number of the check that failed last, and of nodes. */
type Objections = Map<string, { readonly depth: number; nodes: number }>;

interface Request {
  readonly needs: PodNeeds;
  /** The node that the Pod leaves. */
  readonly home: CapacityNode | undefined;
  readonly rules: readonly TopologyRule[];
  readonly cpu: number;
  readonly memory: number;
}

/** In the order of kube-scheduler. The later a check fails, the nearer the node is to taking the Pod. */
const CHECKS: readonly ((room: Room, request: Request) => string | undefined)[] = [
  ({ node }) => node.closed,
  ({ node }, { needs }) => {
    const taint = refusingTaint(needs, node);
    return taint && `taint ${taint.key}`;
  },
  ({ node }, { needs }) => (matchesNode(needs, node) ? undefined : 'other labels than it selects'),
  ({ node }, { needs, home }) => (needs.hasClaim ? otherZone(node, home) : undefined),
  takenPort,
  ({ node }) => (node.allocatable ? undefined : 'no known allocatable'),
  ({ slot }) => (slot.unknown > 0 ? 'Pods with requests that cannot be read' : undefined),
  (room, { cpu }) => (cpu > 0 && cpu > room.cpu ? 'too little cpu' : undefined),
  (room, { memory }) => (memory > 0 && memory > room.memory ? 'too little memory' : undefined),
  otherShortage,
  ({ node }, { rules }) => {
    for (const rule of rules) {
      const because = rule(node);
      if (because !== undefined) return because;
    }
    return undefined;
  },
];

/** Called for each node: without a list of entries. */
function isRefused(room: Room, request: Request, objections: Objections): boolean {
  for (let depth = 0; depth < CHECKS.length; depth += 1) {
    const because = CHECKS[depth]?.(room, request);
    if (because === undefined) continue;
    const known = objections.get(because);
    if (known) known.nodes += 1;
    else objections.set(because, { depth, nodes: 1 });
    return true;
  }
  return false;
}

const ZONE = 'topology.kubernetes.io/zone';

/** PersistentVolumes are not read: a volume of the network is in the zone where its Pod runs. */
function otherZone({ labels }: CapacityNode, home: CapacityNode | undefined): string | undefined {
  const zone = home && ownValue(home.labels, ZONE);
  return zone === undefined || ownValue(labels, ZONE) === zone ? undefined : 'another zone than its volumes';
}

function takenPort({ slot, added }: Room, { needs }: Request): string | undefined {
  if (needs.hostPorts.length === 0) return undefined;
  const taken = new Set([...slot.pods.values(), ...added].flatMap((pod) => pod.needs?.hostPorts ?? []));
  const port = needs.hostPorts.find((each) => taken.has(each));
  return port && `port ${port} taken`;
}

function otherShortage({ slot, added }: Room, { needs }: Request): string | undefined {
  for (const [name, amount] of needs.requests) {
    if (amount === 0 || name === 'cpu' || name === 'memory') continue;
    const taken = added.reduce((sum, pod) => sum + sizeOf(pod, name), 0);
    if (taken + amount > freeIn(slot, name)) return `too little ${name}`;
  }
  return undefined;
}

const MAX_CAUSES = 3;

function explain(
  objections: ReadonlyMap<string, { readonly depth: number; readonly nodes: number }>,
): string {
  if (objections.size === 0) return 'there is no other node';
  return [...objections]
    .toSorted(([a, x], [b, y]) => y.depth - x.depth || y.nodes - x.nodes || (a < b ? -1 : 1))
    .slice(0, MAX_CAUSES)
    .map(([because, { nodes }]) => `${because} on ${nodes} ${nodes === 1 ? 'node' : 'nodes'}`)
    .join(', ');
}

/** A node that is left stays a domain of spreads, as for kube-scheduler, and its evicted Pods do not count on it. */
function placesOf({ capacity, leaving, rooms }: Fill): Places {
  function* placed(): Iterable<readonly [CapacityPod, CapacityNode]> {
    for (const { node, pods } of capacity.slots()) {
      if (!node) continue;
      for (const pod of pods.values()) if (!isLeaving(pod, node)) yield [pod, node];
    }
    yield* moved();
  }
  function* keepingApart(): Iterable<readonly [CapacityPod, CapacityNode]> {
    for (const pod of capacity.keepingApart()) {
      const node = capacity.slot(pod.node ?? PENDING)?.node;
      if (node && !isLeaving(pod, node)) yield [pod, node];
    }
    for (const each of moved()) if (isKeepingApart(each[0])) yield each;
  }
  function* moved(): Iterable<readonly [CapacityPod, CapacityNode]> {
    for (const { added, node } of rooms) for (const pod of added) yield [pod, node];
  }
  function* nodes(): Iterable<CapacityNode> {
    for (const { node } of capacity.slots()) if (node) yield node;
  }
  function isLeaving({ isEvicted }: CapacityPod, { name }: CapacityNode): boolean {
    return isEvicted && leaving.has(name);
  }
  return { placed, keepingApart, nodes };
}

function isKeepingApart({ needs }: CapacityPod): boolean {
  return needs !== undefined && needs.apart.length > 0;
}
