/** What the judge of rollouts knows at one moment of a history. Pure. */
import type { DesiredSet, GrantTruth, HostTruth, MachineTruth } from '../history.ts';

/** Edits that reach the API server in the middle of a reconcile count from its end. */
export const GRACE_MS = 2000;
/** Until what happens to a machine is observed by every process, also by one that has just been started. */
export const OBSERVED_AFTER_MS = 180_000;

/** Until every running process knows what happened: its views are late by less. */
export const KNOWN_AFTER_MS = 75_000;

export interface JudgedFleet {
  readonly sets: Map<string, JudgedSet>;
  readonly machines: Map<string, JudgedMachine>;
  /** In the order of time. */
  readonly clocks: { readonly atMs: number; readonly skewMs: number }[];
}

export interface JudgedSet {
  /** In force now, and within the grace. */
  readonly desired: (DesiredSet & { readonly atMs: number })[];
  readonly pauses: { readonly atMs: number; readonly paused: boolean }[];
  /** Revisions that completed. */
  readonly proven: Set<string>;
  /** Since when it is rolled out. */
  beganMs: number;
  /** By UID of the machine, the revisions that it was given, in this order. */
  readonly started: Map<string, readonly string[]>;
  /** By index. */
  readonly batches: Map<number, Map<string, BatchMember>>;
  /** The last batch that began since the revision is rolled out. */
  furthest: number;
}

export interface BatchMember {
  /** Before. */
  readonly served: boolean;
  /** It tries again in a batch that was over: no other waits for it. */
  readonly isLate: boolean;
}

export interface JudgedMachine {
  truth: MachineTruth;
  servesChangedMs: number;
  heldChangedMs: number;
  joinedMs: number;
  /** By set. */
  readonly hosts: Map<string, HostState>;
  /** By id. */
  readonly grants: Map<string, GrantTruth>;
  /** By set: revision and batch in which it was last started. */
  readonly batchOf: Map<string, string>;
}

export interface HostState {
  readonly truth: HostTruth;
  readonly sinceMs: number;
  /** Taken out of service by us, and not back yet. */
  isOut: boolean;
  /** At its revision and healthy since then, short interruptions ignored. */
  wellMs?: number;
  unwellMs?: number | undefined;
  /** When it was well again after it had been unwell, or in work, for so long that it counted as failed. */
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
      isHealthy: false,
      isCordonedByPerson: false,
      isFaulty: false,
      isHeld: false,
    },
    servesChangedMs: NEVER,
    heldChangedMs: NEVER,
    joinedMs: NEVER,
    hosts: new Map(),
    grants: new Map(),
    batchOf: new Map(),
  };
  machines.set(name, found);
  return found;
}

/** Those that every process knows as members. */
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

/** Whom a person has cordoned meanwhile, we keep out of service no longer. */
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

/** Whether it was so at any moment within the grace. */
export function wasRecently({ desired }: JudgedSet, holds: (desired: DesiredSet) => boolean): boolean {
  return desired.some(holds);
}
