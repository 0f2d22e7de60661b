/**
 * Describes the accepted commits of a Pipeline and what each renders to for every cluster. Git, render and judge produce them;
 * promotion decides by them.
 */

export interface AcceptedCommits {
  /** Oldest first. */
  readonly commits: readonly AcceptedCommit[];
  readonly head: HeadReport;
  /**
   * Commits that inventories name and that the newest accepted commit neither contains nor replaces, each with the reason: what
   * runs there must not be overwritten.
   */
  readonly unaccepted?: ReadonlyMap<string, string>;
}

/** Reports what was found at the head of the Pipeline's ref. */
export interface HeadReport {
  readonly commit?: string;
  readonly observedAt?: Date;
  /** `Rendering` until the render and the checks of the head have ended. */
  readonly verdict: 'Accepted' | 'Rendering' | 'NotDescendant' | 'BadSignature' | 'RenderFailed' | 'Refused';
  readonly message?: string;
  /** The last request of a person for a poll that was served. */
  readonly polledFor?: string;
  /** Why the repository could not be read recently: newer commits are unknown. */
  readonly unread?: string;
  /** Why the repository is not read until a person acts. */
  readonly unopened?: { readonly reason: string; readonly message: string };
  /** The problem that keeps the hub's own objects from being as the newest accepted commit declares them. */
  readonly hub?: HubProblem;
  /** Absent: the Pipeline has no webhook. */
  readonly webhook?: WebhookReport;
  /** Absent: the Pipeline reports no commit statuses. */
  readonly commitStatus?: CommitStatusReport;
  /** Absent: the Pipeline plans no pull requests. */
  readonly planComments?: CommitStatusReport;
  /** Absent: the Pipeline has no automatic reverts. */
  readonly reverts?: CommitStatusReport;
}

/** Reports whether the git host accepts the commit statuses of a Pipeline, its plans of pull requests, or its reverts. */
export interface CommitStatusReport {
  /** Why it does not, for people. Absent: it does. */
  readonly problem?: {
    /** Unknown: it may end without a person. */
    readonly status: 'False' | 'Unknown';
    readonly reason: string;
    readonly message: string;
  };
  /** Tells people which act it carried out, while that matters. */
  readonly done?: { readonly reason: string; readonly message: string };
}

/** Reports whether sync receives the webhook of a Pipeline. Without it the repository is read at each poll. */
export interface WebhookReport {
  /** Why it is not received, for people. Absent: it is. */
  readonly problem?: { readonly reason: string; readonly message: string };
}

export interface HubProblem {
  /** Held lasts until a person acts. */
  readonly state: 'Held' | 'Failed';
  readonly reason: string;
  readonly message: string;
}

export interface AcceptedCommit {
  readonly id: string;
  readonly parent?: string;
  /** The author as the commit states it. */
  readonly author?: string;
  /** The name of the key that signed it, if this process verified that. */
  readonly signer?: string;
  /**
   * Everybody who wrote or signed it or a commit before it that has no Release. Absent: they are not verified, or it has a Release, which
   * keeps them.
   */
  readonly authors?: readonly string[];
  /** The approvals that its Pipeline declares; absent while it is not rendered, or declares no Pipeline of this name. */
  readonly approvals?: readonly DeclaredApproval[];
  readonly subject?: string;
  readonly committedAt?: Date;
  readonly revertOf?: string;
  /** Rendered content by cluster; absent while the commit is not rendered. A cluster that is missing here gets EMPTY_TARGET. */
  readonly targets?: ReadonlyMap<string, TargetDigests>;
  /** The Clusters that it declares in the hub; absent while it is not rendered, or declares nothing for the hub. */
  readonly clusters?: ReadonlySet<string>;
  readonly deletes?: number;
}

/** In place of names: there are too many of them, or some are unknown. No approver counts as another person then. */
export const EVERYBODY = '*';

/** An approval in `spec.approvals` of a Pipeline. */
export interface DeclaredApproval {
  readonly stage: string;
  readonly planDigest: string;
}

export interface ObjectCounts {
  readonly creates: number;
  readonly updates: number;
  readonly deletes: number;
}

export interface TargetDigests {
  readonly digest: string;
  /** The digest of each unit, by the name of the unit. */
  readonly units: ReadonlyMap<string, string>;
}

/** The content of a cluster for which a commit renders nothing. */
export const EMPTY_TARGET: TargetDigests = {
  digest: 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', // of zero bytes
  units: new Map(),
};
