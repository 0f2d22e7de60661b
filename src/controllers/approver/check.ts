/** Describes a check of a claim, and lets its objection wait for what may only be late. Pure. */
import type { Claim } from './claim.ts';
import type { ApproverInput } from './observe.ts';
import type { Objection } from './request.ts';

export type Check = (claim: Claim, input: ApproverInput) => Objection | undefined;

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
