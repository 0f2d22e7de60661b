/** Describes what the approver knows of the cluster, and the form of a check. */
import type { Machine, MachineComponent } from '../../api/generated/types.ts';
import type { Claim } from './claim.ts';
import type { AgentRequest, Objection } from './request.ts';

export interface ApproverInput {
  readonly now: Date;
  machine(name: string): Machine | undefined;
  component(ref: string): MachineComponent | undefined;
  /** Returns how long ago the agent of that machine last renewed its Lease, by our own clock. Undefined without a Lease. */
  heartbeatAgeMs(machine: string): number | undefined;
  /** Returns the approved requests of this requester that still exist: Kubernetes keeps them for an hour. */
  approvedBy(username: string): readonly AgentRequest[];
  /** Returns the approved requests for the certificates of a machine, by any requester. */
  approvedFor(machine: string): readonly AgentRequest[];
}

export type Check = (claim: Claim, snapshot: ApproverInput) => Objection | undefined;

/** How much later than the request our view may be. */
const LATE_MS = 10_000;

/**
 * Lets an objection wait for a while after the request, because what is missing may only be late. After that time it denies the
 * request.
 */
export function afterWaiting(
  { request }: Claim,
  { now }: ApproverInput,
  objection: Objection,
  waitMs: number = LATE_MS,
): Objection {
  const until = new Date(request.createdAt.getTime() + waitMs);
  return now < until ? { ...objection, until } : objection;
}
