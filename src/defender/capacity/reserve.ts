/** Counts how much of the cluster is free when a node is out of service. Pure. */
import type { Slot } from './index-of-nodes.ts';
import type { PlacementInput } from './place.ts';
import { amountOf } from './requests.ts';

/** Holds what is allocatable on the nodes that stay, and what all Pods request that need a place there. */
export interface Reserve {
  readonly allocatable: number;
  readonly requested: number;
}

/** A Pod that waits for a place counts too: it will take what is free. */
export function reserveAfter({ capacity, node, inWork }: PlacementInput, resource: string): Reserve {
  const leaving = new Set([...inWork, node]);
  let allocatable = 0;
  let requested = 0;
  // Reads each node: without a list of entries.
  for (const slot of capacity.slots()) {
    if (slot.node && leaving.has(slot.node.name)) {
      requested += evictedOf(slot, resource);
    } else if (slot.node?.closed === undefined) {
      requested += amountOf(slot.used, resource);
      allocatable += amountOf(slot.node?.allocatable, resource);
    }
  }
  return { allocatable, requested };
}

/** On a closed node nothing is allocatable, so that what runs there takes nothing of it. Evicted Pods need a place elsewhere. */
function evictedOf({ pods }: Slot, resource: string): number {
  let sum = 0;
  for (const { isEvicted, needs } of pods.values()) {
    if (isEvicted) sum += amountOf(needs?.requests, resource);
  }
  return sum;
}
