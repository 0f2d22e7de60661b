/** Describes the target that promotion sets for a cluster, and the report that apply returns about the cluster. */

import type { Blocker, CorrectedDrift, KeptRevision } from '../api/generated/types.ts';
import type { PausedParts } from '../api/status/pauses.ts';
import type { Settlement } from './health/health.ts';
import type { MachineHealth } from './health/machine-health.ts';
import type { UnhealthyObject } from './health/target-health.ts';
import type { RenderedTarget } from './rendered.ts';

/** Nothing in a paused unit, and nothing of a paused object, is written or deleted, also while the rest is written. */
export interface ClusterTarget extends PausedParts {
  /**
   * Apply: write the commit's objects and correct drift. Observe: write nothing, only compare with the commit, if there is
   * one (the cluster is paused or held).
   */
  readonly mode: 'Apply' | 'Observe';
  readonly commit?: string;
  readonly digest?: string;
  /** Name of the Pipeline whose delete budget, acknowledgements, force managers and identities apply. */
  readonly pipeline: string;
  readonly because: string;
  /** The content was proven in this cluster before: units that exist do not wait for those that they depend on. */
  readonly provenBefore?: boolean;
  /**
   * A person rolled the cluster back: its content does not depend on git, and rules and limits stay as they are.
   */
  readonly isRollback?: true;
  /** End of the soak. Promotion waits for an observation made at this moment or later. */
  readonly observeAt?: Date;
}

/** Holds what promotion set for the cluster, together with what the commit renders to. */
export interface ClusterAssignment extends ClusterTarget {
  /** Returns what a commit renders to for the cluster. It is loaded for each reconcile: renders of whole fleets are too large to keep. */
  readonly content: (commit: string) => Promise<RenderedTarget | undefined>;
}

/** Everything currently observed about one cluster. It holds no desired state. */
export interface ClusterReport {
  /** Absent until the first attempt to connect has ended. */
  readonly reachable?: boolean;
  readonly lastContactAt?: Date;
  readonly identity: 'Verified' | 'Mismatch' | 'Unknown';
  readonly clusterUID?: string;
  readonly version?: string;
  readonly endpoint?: string;
  /**
   * Every commit that the inventory in the cluster names, whether its write was only intended or confirmed. The inventory
   * outlives the hub: it keeps a hub that was restored from an old backup from rolling the cluster back.
   */
  readonly commits?: readonly string[];
  /** Units that git declares here or that the inventory lists, by name. */
  readonly units?: readonly string[];
  /** The time since which the API server has refused work because of its load, although it answers. Absent once a reconcile succeeds. */
  readonly overloadedSince?: Date;
  /** Why the last reconcile failed; absent once one succeeds. */
  readonly failure?: ClusterFailure;
  /**
   * The comparison of the cluster with a commit. While it is absent, or about another digest than the target's, nothing is known
   * about the target.
   */
  readonly work?: WorkReport;
  /** S21: True only if every live object was observed after the apply to match `digest`. */
  readonly synced: {
    readonly status: 'True' | 'False' | 'Unknown';
    readonly reason: string;
    readonly message: string;
  };
  /** The health of the objects that were applied for `digest`. */
  readonly health?: Settlement & { readonly digest: string; readonly observedAt: Date };
  /** The first objects that were applied for this digest and then failed. Present with `health`. */
  readonly unhealthy?: readonly UnhealthyObject[];
  /** The objects that others changed and this process wrote back. It contains what the hub had recorded before. */
  readonly drift?: CorrectedDrift;
  /** The contents that a rollback can return to without git. Absent until they were read. */
  readonly revisions?: readonly KeptRevision[];
  /** The health of the machines. Absent until it was read once. */
  readonly machineHealth?: MachineHealth;
}

export interface ClusterFailure {
  /** The reason in CamelCase. */
  readonly reason: string;
  readonly message: string;
  /** When sync tries again, if the server asked for time. It is in the message, too. */
  readonly retryAt?: Date;
}

/** The server answers, and what sync wrote down in the cluster cannot be used. */
export const INVENTORY_DAMAGED = 'InventoryDamaged';
/** The inventory was written in a later term of the Lease: this process writes nothing until it has acquired it again. */
export const LEASE_SUPERSEDED = 'LeaseSuperseded';

export interface WorkReport {
  /** The commit that was compared with the cluster. */
  readonly commit?: string;
  readonly digest: string;
  /**
   * Applying: writing, retrying errors that may be transient, or waiting for CRDs and the like that others install.
   * Applied: every object is in place, and what git removed is deleted or kept by finalizers of others only. Held: held until a person acts. Failed: the last sync met permanent errors.
   */
  readonly state: 'Applying' | 'Applied' | 'Held' | 'Failed';
  readonly reason: string;
  readonly message: string;
  readonly objects: {
    readonly total: number;
    readonly applied: number;
    readonly pruned: number;
    readonly failed: number;
  };
  /** The first failures, at most 20. When `Applied`, they name what finalizers of others keep. */
  readonly failures: readonly {
    readonly object: string;
    /** Absent in the report of a process of an earlier version. */
    readonly unit?: string;
    readonly reason: string;
    readonly message: string;
  }[];
  /** The object that a unit waits for. Unknown in the report of another process. */
  readonly blocker?: Blocker;
  /** The units whose deletes are held, at most 20. */
  readonly held?: readonly HeldDeletes[];
}

export interface HeldDeletes {
  readonly unit: string;
  /** The digest of the held deletes. An acknowledgement names it. */
  readonly planDigest: string;
}
