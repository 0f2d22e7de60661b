/**
 * Describes the format of recorded facts: JSON Lines, each with the time when it was observed. The first line of each process
 * that records is `Started`; what follows is its own initial list, so that nothing between two processes counts as observed.
 */
import type { KubeObject } from '../../kube/objects/object.ts';
import type { FactViewName, LeaseView, ObjectView } from '../views.ts';

export const RECORDING_FORMAT = 'kubenode-facts';
export const RECORDING_VERSION = 1;

export interface RecordedCluster {
  /** The UID of the namespace kube-system, which identifies the cluster. */
  readonly uid: string;
  readonly server: string;
}

export interface StartedLine {
  readonly type: 'Started';
  readonly at: string;
  readonly format: typeof RECORDING_FORMAT;
  readonly version: typeof RECORDING_VERSION;
  readonly kubenode: string;
  readonly cluster: RecordedCluster;
}

/** An object as it is now, with the fields that facts and the plan of a repair read. */
export interface PutLine {
  readonly type: 'Put';
  readonly at: string;
  readonly view: ObjectView;
  readonly object: KubeObject;
}

export interface DeleteLine {
  readonly type: 'Delete';
  readonly at: string;
  readonly view: ObjectView;
  readonly name: string;
}

/** Conditions of a Node that were written again and are otherwise the same: by type, the time of the heartbeat. */
export interface HeartbeatLine {
  readonly type: 'Heartbeat';
  readonly at: string;
  readonly node: string;
  readonly times: Readonly<Record<string, string>>;
}

/** Agents and kubelets renew their Leases every 10 s: only that one begins to, and that it stopped, is recorded. */
export interface LeaseLine {
  readonly type: 'Lease';
  readonly at: string;
  readonly view: LeaseView;
  readonly name: string;
  /** When the Lease was last heard of. Absent: it is heard of now, and until the next line about it. */
  readonly silentSince?: string;
}

/** Every initial list is complete. */
export interface SyncedLine {
  readonly type: 'Synced';
  readonly at: string;
}

/** The API server does not answer about a kind; without `lostSince` it does again. */
export interface ContactLine {
  readonly type: 'Contact';
  readonly at: string;
  readonly view: FactViewName;
  readonly lostSince?: string;
}

/** Nothing changed, and the recorder runs. */
export interface TickLine {
  readonly type: 'Tick';
  readonly at: string;
}

export type RecordedLine =
  | StartedLine
  | PutLine
  | DeleteLine
  | HeartbeatLine
  | LeaseLine
  | SyncedLine
  | ContactLine
  | TickLine;

/**
 * The holder of a Lease is silent after this long, which is two heartbeats. Rules with a shorter maximum age are replayed as if
 * it was not.
 */
export const LEASE_SILENT_MS = 20_000;
/** How often the recorder writes that it runs: the end of a recording that was killed is known to this. */
export const TICK_MS = 30_000;
