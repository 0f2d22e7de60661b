/** Checks whether one node takes one Pod, in the order of kube-scheduler. Pure. */
import { ownValue } from '../../kube/objects/json.ts';
import type { Slot } from './index-of-nodes.ts';
import type { CapacityNode } from './node.ts';
import { matchesNode, refusingTaint } from './node-rules.ts';
import type { CapacityPod, PodNeeds } from './pod.ts';
import { amountOf } from './requests.ts';
import type { TopologyRule } from './topology.ts';

/** A node while Pods are placed on it, one after the other. */
export interface Room {
  readonly slot: Slot;
  readonly node: CapacityNode;
  added: readonly CapacityPod[];
  /** Free amounts of the resources by which most Pods fail: plain numbers, because many Pods read each node. */
  cpu: number;
  memory: number;
}

/** Holds what a Pod asks of a room. */
export interface PlaceRequest {
  readonly needs: PodNeeds;
  /** The node that the Pod leaves. */
  readonly home: CapacityNode | undefined;
  readonly rules: readonly TopologyRule[];
  readonly cpu: number;
  readonly memory: number;
}

export interface NodeObjection {
  /** The number of the check: the later it fails, the nearer the node is to taking the Pod. */
  readonly depth: number;
  readonly because: string;
}

type Check = (room: Room, request: PlaceRequest) => string | undefined;

/** A refusal by them lasts while more Pods are placed, and holds for all Pods with equal needs. */
const LASTING_CHECKS: readonly Check[] = [
  ({ node }) => node.closed,
  ({ node }, { needs }) => {
    const taint = refusingTaint(needs, node);
    return taint && `taint ${taint.key}`;
  },
  ({ node }, { needs }) => (matchesNode(needs, node) ? undefined : 'other labels than it selects'),
  takenPort,
  ({ node }) => (node.allocatable ? undefined : 'no known allocatable'),
  ({ slot }) => (slot.unknown > 0 ? 'Pods with requests that cannot be read' : undefined),
  (room, { cpu }) => (cpu > 0 && cpu > room.cpu ? 'too little cpu' : undefined),
  (room, { memory }) => (memory > 0 && memory > room.memory ? 'too little memory' : undefined),
  otherShortage,
];

/** They depend on the Pod itself and on where other Pods are. */
const POD_CHECKS: readonly Check[] = [
  ({ node }, { needs, home }) => (needs.hasClaim ? otherZone(node, home) : undefined),
  ({ node }, { rules }) => {
    for (const rule of rules) {
      const because = rule(node);
      if (because !== undefined) return because;
    }
    return undefined;
  },
];

const ALL_CHECKS = [...LASTING_CHECKS, ...POD_CHECKS];

/** Amounts come first: they are the cheapest, and most nodes fail by them. */
export function mayTake(room: Room, request: PlaceRequest): boolean {
  if ((request.cpu > 0 && request.cpu > room.cpu) || (request.memory > 0 && request.memory > room.memory)) {
    return false;
  }
  return LASTING_CHECKS.every((check) => check(room, request) === undefined);
}

/** For a room that may take such Pods. */
export function takesNow(room: Room, request: PlaceRequest): boolean {
  return POD_CHECKS.every((check) => check(room, request) === undefined);
}

export function firstObjection(room: Room, request: PlaceRequest): NodeObjection | undefined {
  for (const [depth, check] of ALL_CHECKS.entries()) {
    const because = check(room, request);
    if (because !== undefined) return { depth, because };
  }
  return undefined;
}

const ZONE = 'topology.kubernetes.io/zone';

/** PersistentVolumes are not read: a volume of the network is in the zone where its Pod runs. */
function otherZone({ labels }: CapacityNode, home: CapacityNode | undefined): string | undefined {
  const zone = home && ownValue(home.labels, ZONE);
  return zone === undefined || ownValue(labels, ZONE) === zone ? undefined : 'another zone than its volumes';
}

function takenPort({ slot, added }: Room, { needs }: PlaceRequest): string | undefined {
  if (needs.hostPorts.length === 0) return undefined;
  const taken = new Set([...slot.pods.values(), ...added].flatMap((pod) => pod.needs?.hostPorts ?? []));
  const port = needs.hostPorts.find((each) => taken.has(each));
  return port && `port ${port} taken`;
}

function otherShortage({ slot, node, added }: Room, { needs }: PlaceRequest): string | undefined {
  for (const [name, amount] of needs.requests) {
    if (amount === 0 || name === 'cpu' || name === 'memory') continue;
    const taken = added.reduce((sum, pod) => sum + requested(pod, name), amountOf(slot.used, name));
    if (taken + amount > amountOf(node.allocatable, name)) return `too little ${name}`;
  }
  return undefined;
}

export function requested({ needs }: CapacityPod, resource: string): number {
  return amountOf(needs?.requests, resource);
}
