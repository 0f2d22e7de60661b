/** Counts how much of the cluster is free when a node is out of service. Pure. */
import type { Slot } from './index-of-nodes.ts';
import type { PlacementInput } from './place.ts';
import { type Amounts, addTo } from './requests.ts';

/** Holds what is allocatable on the nodes that stay, and what all Pods request that need a place there. */
export interface Reserve {
  readonly allocatable: Amounts;
  readonly requested: Amounts;
  /** Number of Pods whose requests cannot be read. */
  readonly unknown: number;
}

/** A Pod that waits for a place counts too: it will take what is free. */
export function reserveAfter({ capacity, node, inWork }: PlacementInput): Reserve {
  const leaving = new Set([...inWork, node]);
  const allocatable = new Map<string, number>();
  const requested = new Map<string, number>();
  let unknown = 0;
  for (const slot of capacity.slots()) {
    unknown += slot.unknown;
    if (slot.node && leaving.has(slot.node.name)) {
      addEvicted(requested, slot);
    } else {
      addTo(requested, takenOf(slot));
      addTo(allocatable, offeredBy(slot));
    }
  }
  return { allocatable, requested, unknown };
}

const NOTHING: Amounts = new Map();

function offeredBy({ node }: Slot): Amounts {
  return (node?.closed === undefined && node?.allocatable) || NOTHING;
}

/** On a closed node nothing is allocatable, so that what runs there takes nothing of it. */
function takenOf({ node, used }: Slot): Amounts {
  return node?.closed === undefined ? used : NOTHING;
}

function addEvicted(requested: Map<string, number>, { pods }: Slot): void {
  for (const { isEvicted, needs } of pods.values()) {
    if (isEvicted) addTo(requested, needs?.requests ?? NOTHING);
  }
}
