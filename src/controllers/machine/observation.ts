/** What the machine controller knows of one machine. Pure. */
import type { Machine } from '../../api/generated/types.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { NodeSync } from './node-sync.ts';

export interface MachineObservation {
  readonly machine: Machine;
  /** The Node of the same name. Undefined: there is none. */
  readonly node: KubeObject | undefined;
  /** Undefined: the agent has no Lease. */
  readonly heartbeat: Heartbeat | undefined;
  /** Absent without a Node. */
  readonly sync?: NodeSync;
  readonly now: Date;
}

export interface Heartbeat {
  /** Since the Lease last changed, by our own clock: a lower bound. */
  readonly ageMs: number;
  /** This process observed a change. Without one it does not know yet whether the agent is alive. */
  readonly hasChanged: boolean;
}

/** A Lease that did not change for this long, which is more than its duration, is that of a dead agent. */
export const SILENT_MS = 45_000;
