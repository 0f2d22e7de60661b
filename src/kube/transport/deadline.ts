/** Combines a caller's signal and a time limit into one signal, and describes which of them ended the exchange. */
import { KubeError } from '../client/errors.ts';
import { cutOffError, networkError } from './network-errors.ts';

export interface Deadline {
  readonly signal: AbortSignal;
  /** Restarts the time limit, because data arrived. */
  extend(): void;
  /** Must be called at the end: a pending timer keeps the process alive. */
  clear(): void;
  /** The KubeError for a failed exchange. `answerStarted` when a part of the answer had arrived. */
  explain(error: unknown, answerStarted?: boolean): KubeError;
}

export function createDeadline(outer: AbortSignal | undefined, ms: number, waitingFor: string): Deadline {
  const controller = new AbortController();
  let expired = false;
  const timer = setTimeout(() => {
    expired = true;
    controller.abort(new Error(`${waitingFor}: not within ${ms} ms`));
  }, ms);
  const forwardAbort = (): void => controller.abort(outer?.reason);
  if (outer?.aborted) forwardAbort();
  else outer?.addEventListener('abort', forwardAbort, { once: true });

  return { signal: controller.signal, extend: () => void timer.refresh(), clear, explain };

  function clear(): void {
    clearTimeout(timer);
    outer?.removeEventListener('abort', forwardAbort);
  }

  function explain(error: unknown, answerStarted = false): KubeError {
    if (error instanceof KubeError) return error;
    if (expired) {
      return new KubeError('Timeout', `${waitingFor}: nothing arrived within ${ms / 1000} s`, {
        cause: error,
      });
    }
    if (outer?.aborted) return new KubeError('Aborted', 'the call was aborted', { cause: outer.reason });
    return answerStarted ? cutOffError(error) : networkError(error);
  }
}
