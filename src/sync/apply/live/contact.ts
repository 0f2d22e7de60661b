/**
 * Decides when a reconcile asks its cluster for its identity and for its machines. What is watched costs no request, so these questions
 * are most of what an idle cluster is asked.
 */
import { GROUP } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { groupOf } from '../../../kube/objects/object-id.ts';
import type { Clock } from '../../../os/clock.ts';
import { type MachineHealth, WITHOUT_MACHINES } from '../../health/machine-health.ts';
import { createMachineReader } from '../../health/machine-reader.ts';
import type { SyncSummary } from '../report.ts';
import type { KindRef } from './ports.ts';

/** Now; or before the first write, if there is one; or not at all, because it was verified a moment ago. */
export type VerifyMoment = 'Now' | 'BeforeWrite' | 'Recent';

export interface ClusterContact {
  /** Runs a reconcile. `target` names its target: with the same one and nothing left to do, the next reconcile asks less. */
  follow(
    target: string | undefined,
    reconcile: () => Promise<SyncSummary['requeue']>,
  ): Promise<SyncSummary['requeue']>;
  /** Tells when this reconcile verifies the identity. In doubt, the cluster may not answer, or another one may. */
  verifyMoment(isInDoubt: boolean): VerifyMoment;
  /** The identity was verified. Returns the health of the machines, which is read if that is due. */
  readMachines(client: Client, declared: readonly KindRef[], signal: AbortSignal): Promise<MachineHealth>;
}

/** The identity is verified this often while there is work, so that reconciles that follow each other cost no request. */
const VERIFY_EVERY_MS = 10_000;
/**
 * A connection that ends is noticed by its watch. This is for a server that accepts connections and never answers: with the time limit of
 * the question it is found within two poll intervals of 30 s (S21).
 */
const VERIFY_SETTLED_MS = 45_000;
/** The time limit of the question who a cluster is. */
export const VERIFY_WITHIN_MS = 10_000;
/** Nothing but a person's hand creates machines in a cluster where git declares none. */
const FIND_MACHINES_MS = 900_000;

export function createClusterContact(clock: Pick<Clock, 'now' | 'monotonicMs'>): ClusterContact {
  const machines = createMachineReader(clock);
  let [verifiedMs, readMs] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let health: MachineHealth | undefined;
  /** The target for which the last reconcile left nothing to do. */
  let settled: string | undefined;
  let isSettled = false;

  return {
    async follow(target, reconcile) {
      isSettled = settled !== undefined && settled === target;
      settled = undefined;
      const requeue = await reconcile();
      if (requeue === 'no') settled = target;
      return requeue;
    },
    verifyMoment: (isInDoubt) =>
      verifyMoment({ nowMs: clock.monotonicMs(), verifiedMs, isSettled, isInDoubt }),
    async readMachines(client, declared, signal) {
      verifiedMs = clock.monotonicMs();
      const known = health && { nowMs: verifiedMs, readMs, health, isSettled, declared };
      if (known && !isMachineReadDue(known)) return known.health;
      readMs = verifiedMs;
      health = await machines.read(client, signal);
      return health;
    },
  };
}

/** Describes what is known when a reconcile begins. Moments are those of a monotonic clock. */
export interface VerifyState {
  readonly nowMs: number;
  readonly verifiedMs: number;
  readonly isSettled: boolean;
  readonly isInDoubt: boolean;
}

export function verifyMoment({ nowMs, verifiedMs, isSettled, isInDoubt }: VerifyState): VerifyMoment {
  if (isInDoubt || nowMs >= verifiedMs + (isSettled ? VERIFY_SETTLED_MS : VERIFY_EVERY_MS)) return 'Now';
  return isSettled ? 'BeforeWrite' : 'Recent';
}

export interface MachineState extends Pick<VerifyState, 'nowMs' | 'isSettled'> {
  readonly readMs: number;
  readonly health: MachineHealth;
  /** The kinds that git declares in the cluster. */
  readonly declared: readonly KindRef[];
}

export function isMachineReadDue({ nowMs, readMs, health, isSettled, declared }: MachineState): boolean {
  const mayHaveMachines = health !== WITHOUT_MACHINES || declared.some(bringsMachines);
  return mayHaveMachines || !isSettled || nowMs >= readMs + FIND_MACHINES_MS;
}

/** Machine, MachineSet and the like. */
function bringsMachines({ apiVersion, kind }: KindRef): boolean {
  return groupOf(apiVersion) === GROUP && kind.startsWith('Machine');
}
