/** The rows that the console shows, as they are sent to the page: by key, so that a change is a few rows. */
import type { FleetPolicyView } from '../../views/fleet/policy-view.ts';
import type { CommitView } from '../../views/release/commit-view.ts';

export interface ConsoleRows {
  readonly pipelines: PipelineLine;
  readonly clusters: ClusterLine;
  /** The commits by the name of their Release. */
  readonly commits: CommitView;
  /** The machines by `<cluster>/<machine>`. */
  readonly machines: MachineTile;
  /** The rollouts by `<cluster>/<set>`. */
  readonly rollouts: RolloutCard;
  /** The repairs by `<cluster>/<job>`. */
  readonly repairs: RepairCard;
  readonly limits: LimitLine;
  /** The limits over clusters, by FleetPolicy. */
  readonly fleetPolicies: FleetPolicyCard;
  readonly grants: GrantLine;
  /** The notes about what needs a person, by their text. */
  readonly notes: NoteLine;
  /** The numbers of the last hour, by the second of the epoch. */
  readonly history: HistoryPoint;
}

export type RowsByKey<Row> = Readonly<Record<string, Row>>;
export type ConsoleState = { readonly [Section in keyof ConsoleRows]: RowsByKey<ConsoleRows[Section]> };

/** The current rows of the fleet, without the history. */
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
  /** The place of the cluster in the order of the stages. */
  readonly order: number;
  /** The Pipeline that assigns its commits. Absent: none does. */
  readonly pipeline?: string;
  readonly stage: string;
  readonly commit: string;
  readonly state: string;
  readonly synced: string;
  /** The health of its machines and objects, whatever commit they run: Healthy, Unhealthy, Progressing or Unknown. */
  readonly health: string;
  /** The machines as the Defender of the cluster counted them last. */
  readonly machines?: ReadyCount;
  readonly because: string;
  readonly since?: string;
  /** Explains why the machines of the cluster are not shown, or may be old. */
  readonly stale?: string;
}

export interface ReadyCount {
  readonly total: number;
  readonly ready: number;
}

/** One machine. The names of the fields are short, because there may be 10,000 machines. */
export interface MachineTile {
  /** The phase. */
  readonly p: string;
  /** The zone. */
  readonly z?: string;
  /** The time when it became Ready, or when its trouble began, in seconds of the epoch. */
  readonly s?: number;
  /** The pool. */
  readonly l?: string;
  /** The versions that run. */
  readonly v?: string;
  /** The cordon of its Node. Absent: the Node is not cordoned. */
  readonly c?: TileCordon;
  readonly why?: WhyLine;
}

export interface TileCordon {
  /** The grant of kubenode that the cordon is for. Absent: the cordon is of a person or another tool. */
  readonly g?: string;
  /** The time since which the Node is cordoned, in seconds of the epoch. */
  readonly s?: number;
}

export interface RolloutCard {
  readonly cluster: string;
  readonly set: string;
  readonly phase: string;
  /** The state: Running, Completed, NeedsPerson or Failed. */
  readonly state: string;
  /** Whether the rollout completed and machines do not run its revision now. */
  readonly isBehind?: true;
  readonly because: string;
  /** The changes, a text for each component: `kubelet 1.35.0 to 1.36.0`. */
  readonly changes: readonly string[];
  readonly batch?: RolloutBatch;
  readonly selected: number;
  readonly updated: number;
  readonly failed: number;
  readonly since?: string;
  readonly unblock: string;
  /** When the set begins no update: now, and next. Absent: it always may. */
  readonly closed?: string;
  /** Machines of the batch that are in work, the first ones. */
  readonly inWork: readonly WorkLine[];
  /** The revisions that the set had, newest first. Absent: none is recorded. */
  readonly revisions?: readonly RevisionLine[];
}

export interface RevisionLine {
  readonly components: string;
  readonly result: string;
  /** Absent: it has not ended. */
  readonly ended?: string;
  readonly revision: string;
}

export interface RolloutBatch {
  /** The place of the batch as the commands name it: `2 of 3`. */
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
  /** The state: Running, NeedsPerson, Succeeded, Ended or Failed. */
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
  /** The time of the step. Absent: it is not reached. */
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
  /** The name of what is counted, such as zone a. */
  readonly counts: string;
  readonly used: number;
  readonly limit: number;
}

export interface FleetPolicyCard extends FleetPolicyView {
  /** Explains why what is shown may be old: no process hands out allowances, or the policies cannot be read. */
  readonly stale?: string;
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
  /** Whether something failed or needs a person. */
  readonly bad: boolean;
  /** Whether it is an incident: machines or acts of a whole cluster or zone are stopped, or nothing syncs. */
  readonly isIncident?: true;
  /** The name of the part that is not read, with which the text begins. Absent: the note is about something else. */
  readonly unread?: string;
}

/** The numbers of the fleet at one time. */
export interface HistoryPoint {
  readonly ready: number;
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
  'commits',
  'machines',
  'rollouts',
  'repairs',
  'limits',
  'fleetPolicies',
  'grants',
  'notes',
  'history',
] as const satisfies readonly (keyof ConsoleRows)[];

export const NO_STATE: ConsoleState = {
  pipelines: {},
  clusters: {},
  commits: {},
  machines: {},
  rollouts: {},
  repairs: {},
  limits: {},
  fleetPolicies: {},
  grants: {},
  notes: {},
  history: {},
};
