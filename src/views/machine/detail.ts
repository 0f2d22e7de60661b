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
