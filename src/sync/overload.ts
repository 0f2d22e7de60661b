/**
 * Since when an API server refuses work because of its load (429). A server may refuse writes only: reads that succeed meanwhile
 * do not end the overload.
 */
import { isKubeError } from '../kube/client/errors.ts';
import { MAX_RETRY_AFTER_SECONDS } from '../kube/client/retry-after.ts';
import type { Clock } from '../os/clock.ts';

export function isOverload(error: unknown): boolean {
  return isKubeError(error, 'TooManyRequests');
}

export interface Overload {
  /** The server refused a call. */
  record(): void;
  /** A reconcile succeeded, maybe without writes. After the longest wait that a server may ask for, it is tried again. */
  recordSuccess(): void;
  /** Everything was written. */
  end(): void;
  since(): Date | undefined;
}

export function createOverload(clock: Clock): Overload {
  let current: { readonly since: Date; readonly lastMs: number } | undefined;
  return {
    record() {
      current = { since: current?.since ?? clock.now(), lastMs: clock.monotonicMs() };
    },
    recordSuccess() {
      const age = current ? clock.monotonicMs() - current.lastMs : 0;
      current = age >= MAX_RETRY_AFTER_SECONDS * 1000 ? undefined : current;
    },
    end() {
      current = undefined;
    },
    since: () => current?.since,
  };
}
