/** What the approver knows of the cluster, and what a check is. */
import type { Machine, MachineComponent } from '../../api/generated/types.ts';
import type { Claim } from './claim.ts';
import type { AgentRequest, Objection } from './request.ts';

export interface Snapshot {
  readonly now: Date;
  machine(name: string): Machine | undefined;
  component(ref: string): MachineComponent | undefined;
  /** How long since the agent of that machine last renewed its Lease, by our own clock. Undefined without a Lease. */
  heartbeatAgeMs(machine: string): number | undefined;
  /** Approved requests of this requester that are still there: Kubernetes keeps them for an hour. */
  approvedBy(username: string): readonly AgentRequest[];
  /** The same for the certificates of a machine, by any requester. */
  approvedFor(machine: string): readonly AgentRequest[];
}

export type Check = (claim: Claim, snapshot: Snapshot) => Objection | undefined;

/** Our view may be this much later than the request. */
const LATE_MS = 10_000;

/** What is missing may only be late: it is denied for that after a while. */
export function afterWaiting(
  { request }: Claim,
  { now }: Snapshot,
  objection: Objection,
  waitMs: number = LATE_MS,
): Objection {
  const until = new Date(request.createdAt.getTime() + waitMs);
  return now < until ? { ...objection, until } : objection;
}
