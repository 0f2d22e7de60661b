/** Every brake on a rollout has one form: how many more may start, and why not one more. Pure. */
import type { Explanation } from './explanation.ts';

export interface Limit extends Explanation {
  /** Zero or less: nothing more may start. */
  readonly slots: number;
}

export const UNLIMITED: Limit = {
  slots: Number.POSITIVE_INFINITY,
  reason: 'Unlimited',
  because: 'no limit applies',
};

/** The first of equally tight limits wins, so callers list first what people should read first. */
export function tightestLimit(limits: readonly Limit[]): Limit {
  return limits.reduce(
    (tightest, next) => (Math.max(0, next.slots) < Math.max(0, tightest.slots) ? next : tightest),
    limits[0] ?? UNLIMITED,
  );
}
