/**
 * The states of a cluster in its stage, towards the commit that the stage is on: what each means, what ends it, and how the
 * stage counts it. The planner, status and messages all use this one table; docs/concepts/sync.md prints it.
 */
import type { ClusterSync, ReleaseStageClusters } from '../../../api/generated/types.ts';

/** How far a cluster is with the content that was assigned to it. */
export type ProgressState =
  | 'NotStarted'
  | 'Applying'
  | 'Soaking'
  | 'Proven'
  | 'Failed'
  | 'Held'
  | 'UnitPaused';

/** ProgressState towards the commit of the stage, or what keeps the cluster from making progress towards it. */
export type ClusterRolloutState =
  | ProgressState
  | 'FailedBefore'
  | 'RolledBack'
  | 'Ahead'
  | 'NotRendered'
  | 'NotDeclared'
  | 'Paused'
  | 'Blocked'
  | 'Removed'
  | 'NotObserved'
  | 'Unreachable'
  | 'Skipped';

export interface RolloutStateRow {
  readonly meaning: string;
  readonly endedBy: string;
  /** Reason codes of promotion itself. */
  readonly reasons: readonly string[];
  /** Names what else gives reason codes of this state. */
  readonly otherReasons?: string;
  /** `status.sync.state` of the Cluster; undefined keeps the recorded state. */
  readonly recordedAs: NonNullable<ClusterSync['state']> | undefined;
  /**
   * Towards the proof of the stage. Required: not proven until this cluster is. Failure: counts against `maxFailedClusters`.
   * Ignored: neither.
   */
  readonly counts: 'Proven' | 'Required' | 'Failure' | 'Ignored';
  /** The field of `clusters` in the status of a Release stage that counts it; undefined: the total leaves it out as well. */
  readonly countedIn: keyof ReleaseStageClusters | undefined;
  /** Whether the state ends, or may end, without a person and without a newer commit. */
  readonly isInProgress: boolean;
}

export const ROLLOUT_STATES: Readonly<Record<ClusterRolloutState, RolloutStateRow>> = {
  NotStarted: {
    meaning: 'the commit may start here, but has not',
    endedBy: 'a free slot of the limit that the message names',
    reasons: [
      'Pending',
      'StageFull',
      'FailureBudgetSpent',
      'RenderChanged',
      'Paused',
      'ClusterUnassigned',
      'OutsideWindow',
      'InvalidWindow',
      'Freeze',
    ],
    recordedAs: 'Pending',
    counts: 'Required',
    countedIn: 'pending',
    isInProgress: true,
  },
  Applying: {
    meaning: 'objects are being written, or are not all in sync and healthy yet',
    endedBy: 'every object is observed in sync and healthy: Soaking',
    reasons: ['Applying', 'NotSeen', 'HealthUnknown', 'TooManyRequests'],
    otherReasons: 'of the first object that is not applied, in sync and healthy',
    recordedAs: 'Applying',
    counts: 'Required',
    countedIn: 'applying',
    isInProgress: true,
  },
  Soaking: {
    meaning: 'everything was healthy once; it has to stay so for the soak, and the checks have to pass',
    endedBy: 'the end of the soak with all checks passed: Proven',
    reasons: ['Soaking', 'NotSeen', 'HealthUnknown', 'TooManyRequests'],
    otherReasons: 'of the object that is not healthy any more: the clock of the soak stands still',
    recordedAs: 'Soaking',
    counts: 'Required',
    countedIn: 'soaking',
    isInProgress: true,
  },
  Proven: {
    meaning: 'in sync and healthy for the whole soak, with all checks passed',
    endedBy: 'a newer commit with other content here, or an object that fails: Failed',
    reasons: ['Proven'],
    recordedAs: 'Proven',
    counts: 'Proven',
    countedIn: 'proven',
    isInProgress: false,
  },
  Failed: {
    meaning: 'an object or a check failed',
    endedBy:
      'a newer commit with other content here; healthy with all checks passed for a whole soak; or an acknowledgement, once it is healthy: Soaking',
    reasons: ['CheckFailed', 'Failed'],
    otherReasons: 'of the object that failed',
    recordedAs: 'Failed',
    counts: 'Failure',
    countedIn: 'failed',
    isInProgress: false,
  },
  Held: {
    meaning:
      'deletes beyond what is allowed, or a replacement that no commit caused, wait for a person: everything else is written',
    endedBy:
      'a commit that acknowledges the deletes, the deletion of the object that would be replaced, or a newer commit',
    reasons: ['DeletesHeld', 'ReplacementHeld'],
    recordedAs: 'Held',
    counts: 'Required',
    countedIn: 'applying',
    isInProgress: false,
  },
  UnitPaused: {
    meaning:
      'all that is left to write or delete is in units, or of objects, that a person paused (`spec.pauses`), or in units that wait for those: everything else is written',
    endedBy: '`kubenode release resume` of the units and objects, or a newer commit',
    reasons: ['UnitPaused', 'ObjectPaused'],
    recordedAs: 'Paused',
    counts: 'Required',
    countedIn: 'applying',
    isInProgress: false,
  },
  FailedBefore: {
    meaning:
      'the content of this commit failed here with an earlier commit and was never proven here, so it is not started again',
    endedBy: 'a newer commit with other content here, or an acknowledgement of the failed digest',
    reasons: ['CheckFailed', 'Failed'],
    otherReasons: 'of that failure',
    recordedAs: 'Failed',
    counts: 'Failure',
    countedIn: 'failed',
    isInProgress: false,
  },
  RolledBack: {
    meaning:
      'a person returned it to a revision that it ran before (`kubenode rollback`): it keeps that, whatever is committed',
    endedBy: 'a commit of the stage with that content for this cluster, or `kubenode rollback NAME --end`',
    reasons: ['RolledBack'],
    recordedAs: 'Held',
    counts: 'Failure',
    countedIn: 'failed',
    isInProgress: false,
  },
  Ahead: {
    meaning: 'it runs a newer commit, from another stage or from before the hub was restored; it keeps that',
    endedBy: 'the stage reaches that commit',
    reasons: ['Ahead'],
    recordedAs: 'Ahead',
    counts: 'Ignored',
    countedIn: 'skipped',
    isInProgress: false,
  },
  NotRendered: {
    meaning: 'the content of this commit for the cluster is unknown: the commit is not rendered any more',
    endedBy: 'a newer commit',
    reasons: ['NotRendered'],
    recordedAs: 'Pending',
    counts: 'Required',
    countedIn: 'pending',
    isInProgress: false,
  },
  NotDeclared: {
    meaning:
      'the commit is from before the Cluster was added, renamed or restored in git: nothing is written for it',
    endedBy: 'a commit that declares the Cluster',
    reasons: ['NotDeclared'],
    recordedAs: 'Pending',
    counts: 'Ignored',
    countedIn: 'skipped',
    isInProgress: false,
  },
  Paused: {
    meaning: 'a person paused it (`spec.paused` or `spec.pauses`): nothing is written',
    endedBy: 'the end of the pause',
    reasons: ['Paused'],
    recordedAs: 'Paused',
    counts: 'Ignored',
    countedIn: 'skipped',
    isInProgress: false,
  },
  Blocked: {
    meaning:
      'writes are forbidden: two stages select it, another Pipeline holds it, another cluster answers, another Cluster is registered for it, its inventory is damaged, it runs an unknown commit, or the commit would empty it without it ever having been assigned anything',
    endedBy: 'a person corrects what the message names',
    reasons: [
      'ClusterContested',
      'IdentityMismatch',
      'ClusterDuplicate',
      'InventoryDamaged',
      'CommitUnknown',
      'NothingDeclared',
    ],
    recordedAs: 'Held',
    counts: 'Required',
    countedIn: 'pending',
    isInProgress: false,
  },
  Removed: {
    meaning:
      'the newest accepted commit does not declare the Cluster any more: nothing is written, and its objects stay',
    endedBy: 'the deletion of the Cluster, or a commit that declares it again',
    reasons: ['RemovedFromGit'],
    recordedAs: 'Held',
    counts: 'Ignored',
    countedIn: undefined,
    isInProgress: false,
  },
  NotObserved: {
    meaning: 'sync has just started and has not connected to it yet',
    endedBy: 'the first attempt to connect',
    reasons: ['NotSeen'],
    recordedAs: undefined,
    counts: 'Required',
    countedIn: 'pending',
    isInProgress: true,
  },
  Unreachable: {
    meaning: 'its API server does not answer, for less than `unreachable.graceSeconds`',
    endedBy: 'an answer, or the end of the grace: Skipped',
    reasons: ['Unreachable'],
    recordedAs: 'Unreachable',
    counts: 'Required',
    countedIn: 'unreachable',
    isInProgress: true,
  },
  Skipped: {
    meaning:
      'its API server has not answered, or has refused work because of its load (429), for longer than the grace: the stage goes on without it',
    endedBy: 'an answer: it gets the commit that the stage is on then',
    reasons: ['Unreachable'],
    recordedAs: 'Skipped',
    counts: 'Ignored',
    countedIn: 'skipped',
    isInProgress: false,
  },
};

/** Which cluster explains why a stage waits: first what needs a person, then what cannot be observed, then what is in progress. */
export const EXPLANATION_ORDER: readonly ClusterRolloutState[] = [
  'Held',
  'Blocked',
  'RolledBack',
  'UnitPaused',
  'Unreachable',
  'NotObserved',
  'NotRendered',
  'Applying',
  'NotStarted',
  'Soaking',
  'Failed',
  'FailedBefore',
  'Removed',
  'NotDeclared',
  'Paused',
  'Skipped',
  'Ahead',
];
