/** The parts of one machine that only its detail shows, as the page of the console reads them, too. */
export interface MachineDetailView {
  readonly components: readonly ComponentRow[];
  /** The conditions that need attention. */
  readonly conditions: readonly ConditionRow[];
}

export interface ComponentRow {
  readonly name: string;
  /** The desired version, or Absent. */
  readonly desired: string;
  /** The installed version; a dash: none is reported. */
  readonly runs: string;
  readonly digest: string;
  readonly state: string;
  readonly since?: string;
  readonly because: string;
}

export interface ConditionRow {
  /** The type and the status: `AgentReady=False`. */
  readonly condition: string;
  readonly reason: string;
  readonly since?: string;
  readonly message: string;
}

export interface MachineEventsView {
  /** The newest first. */
  readonly events: readonly MachineEventRow[];
  /** Explains why events are missing. Absent: none is. */
  readonly problem?: string;
}

export interface MachineEventRow {
  readonly at: string;
  /** Whether its writer warns. */
  readonly isWarning: boolean;
  readonly reason: string;
  /** The kind of the object, with its name for a job. */
  readonly about: string;
  readonly message: string;
  readonly count: number;
  /** The program that wrote it. */
  readonly from: string;
}

/** Holds the answer of `kubenode why machine`. */
export type MachineAnswer =
  /** As the command prints it, and when it was asked. */
  { readonly text: string; readonly at: string } | { readonly problem: string };
