/** A caller's signal and a time limit as one signal, and afterwards the word for which of them it was. */

import { KubeError } from '../client/errors.ts';
import { cutOffError, networkError } from './network-errors.ts';

export interface Deadline {
  readonly signal: AbortSignal;
  /** Gives the full time again: something arrived. */
  extend(): void;
  /** Must be called in the end: a forgotten timer keeps the process alive. */
  clear(): void;
  /** The KubeError for what broke, `begun` when a part of the answer was there. */
  explain(error: unknown, begun?: boolean): KubeError;
}

export function createDeadline(outer: AbortSignal | undefined, ms: number, waitingFor: string): Deadline {
  const controller = new AbortController();
  let expired = false;
  const timer = setTimeout(() => {
    expired = true;
    controller.abort(new Error(`${waitingFor}: ${ms} ms are over`));
  }, ms);
  const giveUp = (): void => controller.abort(outer?.reason);
  if (outer?.aborted) giveUp();
  else outer?.addEventListener('abort', giveUp, { once: true });

  return { signal: controller.signal, extend: () => void timer.refresh(), clear, explain };

  function clear(): void {
    clearTimeout(timer);
    outer?.removeEventListener('abort', giveUp);
  }

  function explain(error: unknown, begun = false): KubeError {
    if (error instanceof KubeError) return error;
    if (expired) {
      return new KubeError('Timeout', `${waitingFor}: nothing within ${ms / 1000} s`, { cause: error });
    }
    if (outer?.aborted) return new KubeError('Aborted', 'the call was given up', { cause: outer.reason });
    return begun ? cutOffError(error) : networkError(error);
  }
}
