/** When an operation that failed is tried again: the delay doubles with each failure of the same component. */
import type { Clock } from '../../os/clock.ts';
import type { OperationFailure } from '../component/input.ts';
import type { Transition, TransitionFailure } from '../journal/record.ts';

const FIRST_MS = 2000;
const LONGEST_MS = 5 * 60_000;
/** Of what was in force, and may be all that keeps the node in service. */
const LONGEST_OF_CORRECTION_MS = 60_000;

export interface OperationFailures {
  get(component: string): OperationFailure | undefined;
  add(component: string, failure: TransitionFailure, transition?: Transition): void;
  /** Progress was made: the next failure begins with the shortest delay. */
  clear(component: string): void;
  /** Forgets a failure whose time to retry has come. */
  clearPast(component: string): void;
  /** Of all components. */
  nextRetryAt(): Date | undefined;
}

export function createFailures(clock: Pick<Clock, 'now'>): OperationFailures {
  const failures = new Map<string, { readonly failure: OperationFailure; readonly count: number }>();
  return {
    get: (component) => failures.get(component)?.failure,
    add(component, { code, message }, transition) {
      const count = (failures.get(component)?.count ?? 0) + 1;
      const longestMs = transition ? LONGEST_MS : LONGEST_OF_CORRECTION_MS;
      const delayMs = Math.min(longestMs, FIRST_MS * 2 ** (count - 1));
      const retryAt = new Date(clock.now().getTime() + delayMs);
      failures.set(component, { failure: { code, message, retryAt }, count });
    },
    clear: (component) => void failures.delete(component),
    clearPast(component) {
      const failure = failures.get(component)?.failure;
      if (failure && failure.retryAt <= clock.now()) failures.delete(component);
    },
    nextRetryAt() {
      const times = [...failures.values()].map(({ failure }) => failure.retryAt.getTime());
      return times.length === 0 ? undefined : new Date(Math.min(...times));
    },
  };
}
