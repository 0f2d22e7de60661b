/** Declares what promotion needs from the hub, from git and from the cluster workers. The planner gets the answers as plain data. */
import type { Cluster, Pipeline, Release } from '../../api/generated/types.ts';
import type { ClusterAssignment, ClusterReport } from '../cluster-report.ts';
import type { AcceptedCommits, ObjectCounts } from '../commits.ts';
import type { RenderedTarget } from '../rendered.ts';
import type { PromotionHold } from './snapshot.ts';

/** Is called as a write leaves, after every wait. When it throws, nothing is sent. */
export type WriteFence = () => void;

/** The hub's objects. Every read is at least as new as our own last write, and complete: it rejects rather than omit an object. */
export interface HubStore {
  pipeline(name: string): Promise<Pipeline | undefined>;
  pipelines(): Promise<readonly Pipeline[]>;
  clusters(): Promise<readonly Cluster[]>;
  /** Returns what FleetPolicies hold. Absent: nothing is. */
  holds?(): readonly PromotionHold[];
  releasesOf(pipeline: string): Promise<readonly Release[]>;
  /**
   * Writes the status by server-side apply as kubenode-sync, with the object's resourceVersion: a conflict means that it changed
   * since it was read.
   */
  applyClusterStatus(cluster: Cluster, fence?: WriteFence): Promise<void>;
  applyPipelineStatus(pipeline: Pipeline, fence?: WriteFence): Promise<void>;
  applyReleaseStatus(release: Release, fence?: WriteFence): Promise<void>;
  /** Creates the Release. Succeeds if it exists already: names are deterministic. */
  createRelease(release: Release, fence?: WriteFence): Promise<void>;
  deleteRelease(release: Release, fence?: WriteFence): Promise<void>;
}

/** The accepted commits of one Pipeline, with what each renders to: the open repository hands it to promotion, and this to the clusters. */
export interface CommitSource {
  /**
   * Returns the accepted commits, oldest first; the last one is the newest accepted head. The list holds at least the newest, those
   * of `mentioned` (Releases and clusters name them, so they were accepted before) that are its ancestors, and what was accepted
   * between them.
   */
  accepted(mentioned: readonly string[]): Promise<AcceptedCommits>;
  /**
   * Counts the objects that a commit changes in each of these clusters, against the commit that it has. Clusters for which that is
   * unknown are left out.
   */
  changes(commit: string, clusters: readonly ClusterContent[]): Promise<ReadonlyMap<string, ObjectCounts>>;
  /** Returns what a commit renders to for a target; undefined while that cannot be known, for example without the Lease. */
  content(target: string, commit: string): Promise<RenderedTarget | undefined>;
}

export interface ClusterContent {
  readonly cluster: string;
  /** The commit that the cluster has. Undefined if nothing was applied yet. */
  readonly commit: string | undefined;
}

/** The workers that sync each cluster. Both calls return at once. */
export interface ClusterWorkersPort {
  /**
   * Level-triggered: it is set again in every reconcile, and an unchanged target has no effect. A new target ends every
   * wait, retry and hold of the old one; the request in flight completes.
   */
  setTarget(cluster: string, target: ClusterAssignment): void;
  report(cluster: string): ClusterReport | undefined;
}
