/** Decides when an operation that failed is tried again: the delay doubles with each failure of the same component. */
import type { Clock } from '../../os/clock.ts';
import type { OperationFailure } from '../component/input.ts';
import type { Transition, TransitionFailure } from '../journal/record.ts';

const FIRST_MS = 2000;
const LONGEST_MS = 5 * 60_000;
/** The longest delay of a correction of what was in force, and may be all that keeps the node in service. */
const LONGEST_OF_CORRECTION_MS = 60_000;

export interface OperationFailures {
  get(component: string): OperationFailure | undefined;
  add(component: string, failure: TransitionFailure, transition?: Transition): void;
  /** Clears a failure because progress was made: the next failure begins with the shortest delay. */
  clear(component: string): void;
  /** Forgets a failure whose time to retry has come. */
  clearPast(component: string): void;
  /** Returns the next time to retry, of all components. */
  nextRetryAt(): Date | undefined;
}

interface Failure {
  readonly failure: TransitionFailure;
  readonly count: number;
  /** The time to retry by the clock that is never set. */
  readonly retryMs: number;
}

/** Creates the failures of all components. A wall clock that is set back during a wait does not make the wait longer. */
export function createFailures(clock: Pick<Clock, 'now' | 'monotonicMs'>): OperationFailures {
  const failures = new Map<string, Failure>();

  /** Returns the time to retry by the wall clock as it is now. */
  function retryAt({ retryMs }: Failure): Date {
    return new Date(clock.now().getTime() + Math.max(0, Math.ceil(retryMs - clock.monotonicMs())));
  }

  return {
    get(component) {
      const found = failures.get(component);
      return found && { ...found.failure, retryAt: retryAt(found) };
    },
    add(component, { code, message }, transition) {
      const count = (failures.get(component)?.count ?? 0) + 1;
      const longestMs = transition ? LONGEST_MS : LONGEST_OF_CORRECTION_MS;
      const delayMs = Math.min(longestMs, FIRST_MS * 2 ** (count - 1));
      failures.set(component, { failure: { code, message }, count, retryMs: clock.monotonicMs() + delayMs });
    },
    clear: (component) => void failures.delete(component),
    clearPast(component) {
      const found = failures.get(component);
      if (found && found.retryMs <= clock.monotonicMs()) failures.delete(component);
    },
    nextRetryAt() {
      const times = [...failures.values()].map((failure) => retryAt(failure).getTime());
      return times.length === 0 ? undefined : new Date(Math.min(...times));
    },
  };
}
