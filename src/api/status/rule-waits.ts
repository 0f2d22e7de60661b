/** Why a rule that is not well on a machine creates no job there: one reason at a time. */

export type WaitReason =
  | 'Observe'
  | 'GateClosed'
  | 'Indeterminate'
  | 'Starting'
  | 'TooManyMatches'
  | 'NoNode'
  | 'NeedsPerson'
  | 'HumanHold'
  | 'NodeExcluded'
  | 'Covered'
  | 'JobActive'
  | 'Verified'
  | 'HandedOff'
  | 'RetryLater'
  | 'Flapping'
  | 'MaxJobs'
  | 'ControlPlaneBusy'
  | 'NoCommit'
  | 'Shadow'
  | 'Outranked'
  | 'NotItsTurn'
  | 'Denied';

export interface RemedyWait {
  readonly reason: WaitReason;
  /** One sentence for people. */
  readonly message: string;
  /** When time alone may change it. */
  readonly until?: Date;
  /** The reason of the Defender, where it denied. */
  readonly denial?: string;
}

/** That of the Defender where it denied. */
export function reportedReason({ denial, reason }: RemedyWait): string {
  return denial ?? reason;
}
