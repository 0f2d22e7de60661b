/** How long a reflector waits after an error: a short time for its own errors, a random part of a long one for a server that does not answer. */
import type { Clock } from '../../os/clock.ts';
import type { KubeError, KubeErrorCode } from '../client/errors.ts';
import { backOffAfterError, NO_ERRORS, spreadReconnect } from '../process/backoff.ts';

/** All clients of the server have these at the same time. */
const SERVER_LOST: ReadonlySet<KubeErrorCode> = new Set([
  'Unreachable',
  'Timeout',
  'ServerError',
  'TooManyRequests',
]);

export interface RetryDelay {
  /** Whether all clients of the server wait now, and this one takes part in the spread. */
  isSpread(error: KubeError): boolean;
  after(error: KubeError, spread: boolean): number;
}

export interface RetryDelayOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly random: () => number;
  readonly reconnectSpreadMs?: number;
}

export function createRetryDelay({ clock, random, reconnectSpreadMs }: RetryDelayOptions): RetryDelay {
  let backoff = NO_ERRORS;
  /** After an outage the server answers, and has forgotten the version of the watch: this list does not wait as long as the last attempts. */
  let expiredBackoff = NO_ERRORS;
  return {
    isSpread: ({ code }) => reconnectSpreadMs !== undefined && SERVER_LOST.has(code),
    after({ code, retryAfterSeconds }, spread) {
      const attempt = { atMs: clock.monotonicMs(), random: random(), retryAfterSeconds };
      if (spread) return spreadReconnect(reconnectSpreadMs ?? 0, attempt);
      if (code === 'Gone') {
        expiredBackoff = backOffAfterError(expiredBackoff, attempt);
        return expiredBackoff.delayMs;
      }
      backoff = backOffAfterError(backoff, attempt);
      return backoff.delayMs;
    },
  };
}
