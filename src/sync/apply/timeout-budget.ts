/**
 * A call that is not answered in time is the fault of one object, such as one with an admission webhook that hangs, or of the
 * server. The first ones of a reconcile count as failures of their objects, so that the others are applied. More of them
 * end the reconcile like a server that is unreachable: each takes as long as the time limit of a call.
 */
import type { KubeError } from '../../kube/client/errors.ts';

/** The budget is less than the calls in flight: a server that stops to answer spends it at once. */
const MAX_TIMEOUTS = 4;

/** Limits the timeouts of one reconcile that count as failures of their objects. */
export interface TimeoutBudget {
  /** Tells whether the object of this call failed, and not the server. */
  spend(): boolean;
}

export function createTimeoutBudget(): TimeoutBudget {
  let left = MAX_TIMEOUTS;
  return {
    spend() {
      left -= 1;
      return left >= 0;
    },
  };
}

const OF_ALL: ReadonlySet<KubeError['code']> = new Set([
  'Unreachable',
  'Timeout',
  'Aborted',
  'Unauthorized',
  'Credentials',
  'TooManyRequests',
  'Config',
]);

/** Tells whether the next object would fail for the same reason. */
export function stopsAll({ code }: KubeError, { timeouts }: { readonly timeouts?: TimeoutBudget }): boolean {
  return OF_ALL.has(code) && !(code === 'Timeout' && timeouts?.spend());
}
