/**
 * What promotion needs from the rest of sync, in its own words. The controller holds these ports; the planner
 * gets what they said as plain data.
 */
import type { Cluster, Pipeline, Release } from '../../api/generated/types.ts';
import type { Settlement } from '../health/health.ts';

/** The hub's objects. Every read is at least as new as our own last write, and whole: it rejects rather than leave something out. */
export interface HubStore {
  pipeline(name: string): Promise<Pipeline | undefined>;
  pipelines(): Promise<readonly Pipeline[]>;
  clusters(): Promise<readonly Cluster[]>;
  releasesOf(pipeline: string): Promise<readonly Release[]>;
  /** Server-side apply as kubenode-sync, with the object's resourceVersion: what changed since we looked is looked at again. */
  applyClusterStatus(cluster: Cluster): Promise<void>;
  applyPipelineStatus(pipeline: Pipeline): Promise<void>;
  applyReleaseStatus(release: Release): Promise<void>;
  /** Creates it, and is content when it is there already: names are deterministic. */
  createRelease(release: Release): Promise<void>;
  deleteRelease(release: Release): Promise<void>;
}

/** What git, render and judge say about one Pipeline's source. */
export interface CommitSource {
  /**
   * The accepted commits, oldest first; the last one is the newest accepted head. It holds at least the newest, those of
   * `mentioned` (what Releases and clusters name) that are among its ancestors, and what was accepted between them.
   */
  accepted(pipeline: Pipeline, mentioned: readonly string[]): Promise<AcceptedCommits>;
}

export interface AcceptedCommits {
  readonly commits: readonly Commit[];
  readonly head: HeadReport;
}

export interface HeadReport {
  readonly commit?: string;
  readonly seenAt?: Date;
  readonly verdict: 'Accepted' | 'NotDescendant' | 'BadSignature' | 'RenderFailed' | 'Refused';
  readonly message?: string;
  /** The repository could not be read lately, and why: nothing is known about newer commits. */
  readonly unread?: string;
}

export interface Commit {
  readonly id: string;
  readonly parent?: string;
  readonly author?: string;
  readonly subject?: string;
  readonly committedAt?: Date;
  readonly revertOf?: string;
  /** What it renders to, by cluster; absent while it is not rendered (any more). A cluster that is missing here gets nothing. */
  readonly targets?: ReadonlyMap<string, TargetDigests>;
  readonly deletes?: number;
  readonly disrupts?: number;
}

export interface TargetDigests {
  readonly digest: string;
  /** Unit to digest. */
  readonly units: ReadonlyMap<string, string>;
}

/**
 * The work in the clusters. `target` is a level, not an edge: it is said again in every pass, and the same word
 * twice changes nothing. A new target ends every wait, retry and hold of the old one; the request in flight
 * completes. Both calls return at once.
 */
export interface ClusterSync {
  target(cluster: string, target: ClusterTarget): void;
  report(cluster: string): ClusterReport | undefined;
}

export interface ClusterTarget {
  /**
   * Apply: bring it there, and keep it there. Observe: write nothing, but look (paused, held). With a commit, what
   * is looked at is compared with that commit.
   */
  readonly mode: 'Apply' | 'Observe';
  readonly commit?: string;
  readonly digest?: string;
  /** Name of the Pipeline whose delete budget, acknowledgements, force managers and identities count. */
  readonly pipeline: string;
  readonly because: string;
  /** The end of a soak: what is seen from this moment on is waited for. */
  readonly lookAt?: Date;
}

/** All that is known about one cluster now, by observation; nothing in it is a wish. */
export interface ClusterReport {
  /** Absent until the first try has ended. */
  readonly reachable?: boolean;
  readonly lastContactAt?: Date;
  readonly identity: 'Verified' | 'Mismatch' | 'Unknown';
  readonly clusterUID?: string;
  readonly version?: string;
  readonly endpoint?: string;
  /**
   * From the inventory in the cluster: every commit that it names, whether its write was only intended or confirmed. It
   * outlives the hub, and keeps a cluster from being taken back by a hub with an older memory.
   */
  readonly commits?: readonly string[];
  /** Absent, or about another digest than the target's, means: nothing is known yet about that target. */
  readonly work?: WorkReport;
  /** S21: every live object was seen after the apply to match `digest`. */
  readonly synced: {
    readonly status: 'True' | 'False' | 'Unknown';
    readonly reason: string;
    readonly message: string;
  };
  /** Of the objects that were applied for `digest`. */
  readonly health?: Settlement & { readonly digest: string; readonly observedAt: Date };
  readonly machines?: {
    readonly total: number;
    readonly ready: number;
    readonly upToDate: number;
    readonly failed: number;
  };
}

export interface WorkReport {
  readonly digest: string;
  /**
   * Applying: writing, retrying what may pass, or waiting for what others install. Applied: all of it is there.
   * Held: the judge holds it until a person acts. Failed: the last pass met errors that do not pass by themselves.
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
  /** At most 20. */
  readonly failures: readonly {
    readonly object: string;
    readonly reason: string;
    readonly message: string;
  }[];
}
