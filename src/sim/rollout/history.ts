/**
 * One event that really happened in a simulated cluster, as the judge of rollouts reads it: what git asked for, what hosts did, and each
 * write that starts an update.
 */

export type RolloutEvent = { readonly atMs: number } & (
  | ({ readonly what: 'Set' } & DesiredSet)
  | ({ readonly what: 'Machine' } & MachineTruth)
  | ({ readonly what: 'Host' } & HostTruth)
  | ({ readonly what: 'Start' } & StartedUpdate)
  | ({ readonly what: 'Grant' } & GrantTruth)
  | ({ readonly what: 'Completed' } & { readonly set: string; readonly revision: string })
  | ({ readonly what: 'Clock' } & { readonly skewMs: number })
  | ({ readonly what: 'Quiet' } & QuietCluster)
);

/** The set that git asks for, once the API server has it. */
export interface DesiredSet {
  readonly set: string;
  readonly exists: boolean;
  readonly paused: boolean;
  /** The revision. Undefined: a component does not exist. */
  readonly revision?: string;
  readonly retryToken?: string;
  /** The number of machines that may be out of service, of those that the set selects now. */
  readonly maxUnavailable: number;
  readonly maxFailed: number;
  readonly soakMs: number;
  readonly timeoutMs: number;
  /** The number of machines of one domain that may be in work. Absent: no domain limits. */
  readonly maxOfDomain?: number;
  /** The number of machines that keep the old revision. Absent: none. */
  readonly kept?: number;
  /** The last batch that may begin without a further approval. */
  readonly maxBatch: number;
}

export interface MachineTruth {
  readonly machine: string;
  readonly uid: string;
  readonly exists: boolean;
  /** The sets that select the machine. */
  readonly sets: readonly string[];
  /** Whether its Node is Ready and not cordoned, its agent reports, and it has been in service. */
  readonly serves: boolean;
  /** Whether its agent reports nothing. */
  readonly isSilent: boolean;
  /** Whether its Node serves, also while its agent is silent. */
  readonly nodeServes: boolean;
  /** Whether the same as for `serves` holds, apart from a cordon. */
  readonly isHealthy: boolean;
  /** Whether its Node is cordoned without the mark of a grant. */
  readonly isCordonedByPerson: boolean;
  /** Whether its Node reports a fault: at its revision it is not in service, as the health patrol observes it. */
  readonly isFaulty: boolean;
  readonly isHeld: boolean;
  /** The rack that the machine is in. */
  readonly rack?: string;
}

/** The state of the entries of a set on a host. */
export interface HostTruth {
  readonly machine: string;
  readonly set: string;
  readonly revision: string;
  readonly state: 'Working' | 'Committed' | 'GaveUp';
}

/** The write of an entry that makes a host begin an update, or permits one. */
export interface StartedUpdate {
  readonly machine: string;
  readonly set: string;
  readonly revision: string;
  readonly batch?: number;
  /** The grant in the entry. */
  readonly grant?: string;
  /**
   * The effect on the host. Update: it has to change. Restart: it may restart what it has. None: it has that content, or is at work on it.
   */
  readonly kind: 'Update' | 'Restart' | 'None';
}

/** The grant as it is in the ledger. */
export interface GrantTruth {
  readonly machine: string;
  readonly id: string;
  readonly set?: string;
  readonly isOpen: boolean;
  readonly untilMs: number;
}

/** The state of the cluster long after the last fault. */
export interface QuietCluster {
  /** The reason for which each set waits. */
  readonly waits: Readonly<Record<string, string>>;
  /** Machines whose update never ends, or whose Node a version broke: they stay out of service, with their grant. */
  readonly hung: readonly string[];
  /** Nodes with our cordon. */
  readonly cordons: readonly string[];
  /** Machines with our grant, in the ledger or in an entry. */
  readonly grants: readonly string[];
}

export interface RolloutViolation {
  readonly atMs: number;
  readonly machine: string;
  readonly what: string;
}
