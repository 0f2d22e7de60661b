/** Input of the planner: the hub's objects and what was observed. It holds no desired state, no clock and no ports. */
import type { Cluster, Pipeline, Release } from '../../api/generated/types.ts';
import type { CheckRun } from '../../rollout/checks/gate.ts';
import type { ClusterReport } from '../cluster-report.ts';
import type { AcceptedCommit } from '../commits.ts';
import type { SharedCluster } from './cluster/registration.ts';

export interface PromotionInput {
  readonly pipeline: Pipeline;
  readonly clusters: readonly ClusterSnapshot[];
  readonly releases: readonly Release[];
  /** Accepted commits, oldest first. */
  readonly commits: readonly AcceptedCommit[];
  /** Commits of inventories that the newest accepted one neither contains nor replaces, each with the reason. */
  readonly unaccepted?: ReadonlyMap<string, string>;
  /** The holds of FleetPolicies: these commits failed in several clusters. */
  readonly holds?: readonly PromotionHold[];
  readonly now: Date;
}

/** Keeps commits from further clusters. A revert is never held. */
export interface PromotionHold {
  /** Absent: every commit. */
  readonly commits?: ReadonlySet<string>;
  readonly policy: string;
  readonly because: string;
  readonly until: Date;
}

export interface ClusterSnapshot {
  readonly cluster: Cluster;
  /** Absent while nothing is observed yet: sync has just started. */
  readonly report?: ClusterReport;
  /** Check runs since the last recorded reconcile; older ones are harmless. */
  readonly checkRuns?: readonly CheckRun[];
  /** Another Pipeline that holds the cluster, or, where none holds it, one that selects it as well. */
  readonly otherPipeline?: { readonly name: string; readonly holds: boolean };
  /** This Pipeline does not hold the cluster: it leaves the recorded assignment as it is. */
  readonly isNotHeld?: boolean;
  /** The newest accepted commit does not declare it any more. */
  readonly isRemoved?: boolean;
  /** Another Cluster leads to the same cluster. */
  readonly shared?: SharedCluster;
}
