/** What the console shows, as it is sent to the page: rows by key, so that a change is a few rows. */

export interface ConsoleRows {
  readonly pipelines: PipelineLine;
  readonly clusters: ClusterLine;
  /** By `<cluster>/<machine>`. */
  readonly machines: MachineTile;
  /** By `<cluster>/<set>`. */
  readonly rollouts: RolloutCard;
  /** By `<cluster>/<job>`. */
  readonly repairs: RepairCard;
  readonly limits: LimitLine;
  readonly grants: GrantLine;
  /** What needs a person, by its text. */
  readonly notes: NoteLine;
  /** The last hour, by the second of the epoch. */
  readonly history: HistoryPoint;
}

export type RowsByKey<Row> = Readonly<Record<string, Row>>;
export type ConsoleState = { readonly [Section in keyof ConsoleRows]: RowsByKey<ConsoleRows[Section]> };

/** What the clusters have now. */
export type FleetRows = Omit<ConsoleState, 'history'>;

/** A wait, and what ends it. Absent: it waits for nothing. */
export interface WhyLine {
  readonly reason: string;
  readonly because: string;
  readonly unblock: string;
}

export interface PipelineLine {
  readonly name: string;
  readonly phase: string;
  readonly commit: string;
  readonly verdict: string;
  readonly because: string;
  readonly since?: string;
}

export interface ClusterLine {
  readonly name: string;
  /** Place in the order of the stages. */
  readonly order: number;
  readonly stage: string;
  readonly commit: string;
  readonly state: string;
  readonly synced: string;
  /** How its machines and objects are, whatever commit they run: Healthy, Unhealthy, Progressing or Unknown. */
  readonly health: string;
  /** As its Defender counted them last. */
  readonly machines?: ReadyCount;
  readonly because: string;
  readonly since?: string;
  /** Why its machines are not shown, or may be old. */
  readonly stale?: string;
}

export interface ReadyCount {
  readonly total: number;
  readonly ready: number;
}

/** Short names, because there may be 10,000 of them. */
export interface MachineTile {
  /** Phase. */
  readonly p: string;
  /** Zone. */
  readonly z?: string;
  /** Since, in seconds of the epoch. */
  readonly s?: number;
  /** Versions that run. */
  readonly v?: string;
  /** Its Node is cordoned. */
  readonly c?: TileCordon;
  readonly why?: WhyLine;
}

export interface TileCordon {
  /** The grant of kubenode that it is for. Absent: it is of a person or another tool. */
  readonly g?: string;
  /** Since, in seconds of the epoch. */
  readonly s?: number;
}

export interface RolloutCard {
  readonly cluster: string;
  readonly set: string;
  readonly phase: string;
  /** Running, Completed, NeedsPerson or Failed. */
  readonly state: string;
  /** It completed, and machines do not run it now. */
  readonly isBehind?: true;
  readonly because: string;
  /** `kubelet 1.35.0 to 1.36.0`, a text for each component. */
  readonly changes: readonly string[];
  readonly batch?: RolloutBatch;
  readonly selected: number;
  readonly updated: number;
  readonly failed: number;
  readonly since?: string;
  readonly unblock: string;
  /** Machines of the batch that are in work, the first ones. */
  readonly inWork: readonly WorkLine[];
}

export interface RolloutBatch {
  /** As the commands name it: `2 of 3`. */
  readonly place: string;
  readonly size: number;
  readonly updated: number;
  readonly failed: number;
  readonly soakUntil?: string;
}

export interface WorkLine {
  readonly machine: string;
  readonly state: string;
  readonly because: string;
}

export interface RepairCard {
  readonly cluster: string;
  readonly job: string;
  readonly machine: string;
  readonly rule: string;
  readonly rung: string;
  readonly attempt: number;
  readonly phase: string;
  /** Running, NeedsPerson, Succeeded, Ended or Failed. */
  readonly state: string;
  readonly created?: string;
  readonly evidence: readonly string[];
  readonly timeline: readonly MomentLine[];
  readonly steps: readonly StepLine[];
  readonly why?: WhyLine;
  readonly outcome?: string;
}

export interface MomentLine {
  readonly what: string;
  /** Absent: not reached. */
  readonly at?: string;
  readonly because: string;
}

export interface StepLine {
  readonly step: string;
  readonly state: string;
  readonly because: string;
}

export interface LimitLine {
  readonly cluster: string;
  readonly policy: string;
  readonly rule: string;
  /** What is counted, such as zone a. */
  readonly counts: string;
  readonly used: number;
  readonly limit: number;
}

export interface GrantLine {
  readonly cluster: string;
  readonly machine: string;
  readonly id: string;
  readonly action: string;
  readonly state: string;
  readonly holder: string;
  readonly since: string;
}

export interface NoteLine {
  readonly text: string;
  /** Something failed or needs a person. */
  readonly bad: boolean;
}

/** How many there were. */
export interface HistoryPoint {
  readonly changing: number;
  readonly trouble: number;
  readonly repairs: number;
  readonly grants: number;
  /** Machines that run what their rollout brings. */
  readonly updated: number;
}

export const SECTIONS = [
  'pipelines',
  'clusters',
  'machines',
  'rollouts',
  'repairs',
  'limits',
  'grants',
  'notes',
  'history',
] as const satisfies readonly (keyof ConsoleRows)[];

export const NO_STATE: ConsoleState = {
  pipelines: {},
  clusters: {},
  machines: {},
  rollouts: {},
  repairs: {},
  limits: {},
  grants: {},
  notes: {},
  history: {},
};
