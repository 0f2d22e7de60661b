/** Keeps what the judge of rollouts knows at one moment of a history. Pure. */
import type { DesiredSet, GrantTruth, HostTruth, MachineTruth } from '../history.ts';

/** The time of grace: edits that reach the API server in the middle of a reconcile count from its end. */
export const GRACE_MS = 2000;
/** The time until every process has observed what happens to a machine, even one that has just been started. */
export const OBSERVED_AFTER_MS = 180_000;

/** The time until every running process knows what happened: its views are late by less. */
export const KNOWN_AFTER_MS = 75_000;

export interface JudgedFleet {
  readonly sets: Map<string, JudgedSet>;
  readonly machines: Map<string, JudgedMachine>;
  /** The skews of the clock, in the order of time. */
  readonly clocks: { readonly atMs: number; readonly skewMs: number }[];
}

export interface JudgedSet {
  /** The desired states in force now, and within the grace. */
  readonly desired: (DesiredSet & { readonly atMs: number })[];
  readonly pauses: { readonly atMs: number; readonly paused: boolean }[];
  /** The revisions that completed. */
  readonly proven: Set<string>;
  /** The time since which the revision is rolled out. */
  beganMs: number;
  /** The revisions that each machine received, in this order, by UID of the machine. */
  readonly started: Map<string, readonly string[]>;
  /** The batches by index. */
  readonly batches: Map<number, Map<string, BatchMember>>;
  /** The last batch that began since the revision is rolled out. */
  furthest: number;
}

export interface BatchMember {
  /** Whether the machine served before. */
  readonly served: boolean;
  /** Whether the machine tries again in a batch that was over: no other waits for it. */
  readonly isLate: boolean;
}

export interface JudgedMachine {
  truth: MachineTruth;
  servesChangedMs: number;
  silentChangedMs: number;
  heldChangedMs: number;
  joinedMs: number;
  /** The states of the host by set. */
  readonly hosts: Map<string, HostState>;
  /** The grants by id. */
  readonly grants: Map<string, GrantTruth>;
  /** The revision and batch in which the machine was last started, by set. */
  readonly batchOf: Map<string, string>;
}

export interface HostState {
  readonly truth: HostTruth;
  readonly sinceMs: number;
  /** Whether we took the machine out of service and it is not back yet. */
  isOut: boolean;
  /** The time since which it is at its revision and healthy, short interruptions ignored. */
  wellMs?: number;
  unwellMs?: number | undefined;
  /** The time when it was well again after it had been unwell, or in work, for so long that it counted as failed. */
  recoveredMs?: number;
}

export const NO_BATCH = -1;
const NEVER = Number.NEGATIVE_INFINITY;

export function setOf({ sets }: JudgedFleet, name: string): JudgedSet {
  const found = sets.get(name) ?? {
    desired: [],
    pauses: [],
    proven: new Set(),
    beganMs: NEVER,
    started: new Map(),
    batches: new Map(),
    furthest: NO_BATCH,
  };
  sets.set(name, found);
  return found;
}

export function machineOf({ machines }: JudgedFleet, name: string): JudgedMachine {
  const found = machines.get(name) ?? {
    truth: {
      machine: name,
      uid: '',
      exists: false,
      sets: [],
      serves: false,
      isSilent: false,
      nodeServes: false,
      isHealthy: false,
      isCordonedByPerson: false,
      isFaulty: false,
      isHeld: false,
    },
    servesChangedMs: NEVER,
    silentChangedMs: NEVER,
    heldChangedMs: NEVER,
    joinedMs: NEVER,
    hosts: new Map(),
    grants: new Map(),
    batchOf: new Map(),
  };
  machines.set(name, found);
  return found;
}

/** Returns the machines that every process knows as members. */
export function membersOf({ machines }: JudgedFleet, set: string, atMs: number): readonly JudgedMachine[] {
  return [...machines.values()].filter(
    ({ truth, joinedMs }) => truth.exists && truth.sets.includes(set) && atMs - joinedMs > OBSERVED_AFTER_MS,
  );
}

export function isWell({ truth: { isHealthy, exists } }: JudgedMachine, { truth }: HostState): boolean {
  return exists && isHealthy && truth.state === 'Committed';
}

export function noteHealth(machine: JudgedMachine, host: HostState, atMs: number): void {
  if (isBack(machine.truth) && host.truth.state !== 'Working') host.isOut = false;
  if (isWell(machine, host)) noteWell(host, atMs);
  else host.unwellMs ??= atMs;
}

/** Tells whether the machine is back. One that a person has cordoned meanwhile is not kept out of service by us any more. */
function isBack({ serves, isHealthy, isCordonedByPerson }: MachineTruth): boolean {
  return serves || (isHealthy && isCordonedByPerson);
}

function noteWell(host: HostState, atMs: number): void {
  const { wellMs, unwellMs } = host;
  const isLong = unwellMs !== undefined && atMs - unwellMs >= OBSERVED_AFTER_MS;
  if (wellMs === undefined || isLong) host.wellMs = atMs;
  if (isLong) host.recoveredMs = atMs;
  host.unwellMs = undefined;
}

/** Tells whether the condition held at any moment within the grace. */
export function wasRecently({ desired }: JudgedSet, holds: (desired: DesiredSet) => boolean): boolean {
  return desired.some(holds);
}
