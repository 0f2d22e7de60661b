/** A commit of a hub by stage, as the page of the console reads it, too. */
export interface CommitView {
  /** The name of the Release. */
  readonly name: string;
  readonly pipeline: string;
  readonly commit: string;
  readonly phase: string;
  readonly subject?: string;
  readonly author?: string;
  /** The time when the Release was created. */
  readonly created?: string;
  /** The address of the commit at the git host. Absent: the repository has no page. */
  readonly link?: string;
  /** In the order of promotion. */
  readonly stages: readonly CommitStageView[];
}

export interface CommitStageView {
  readonly name: string;
  readonly state: string;
  readonly since?: string;
  readonly soakUntil?: string;
  readonly proven: number;
  readonly total: number;
  /** The changes of the commit in the stage. Empty: not known. */
  readonly plan: string;
  /** The wait of the stage. Empty: it waits for nothing. */
  readonly because: string;
}
