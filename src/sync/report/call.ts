/** Calls the API of a git host. An answer that is an error rejects with HostCallError. */
import type { Clock } from '../../os/clock.ts';
import { type HostTask, networkFailure, type SendFailure, sendFailure } from './outcome.ts';
import type { HostAnswer, HostRequest, SendOptions } from './send.ts';
import type { StatusTarget } from './target.ts';

export class HostCallError extends Error {
  override readonly name = 'HostCallError';
  readonly failure: SendFailure;

  constructor(failure: SendFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

export interface HostCallPorts {
  readonly send: (request: HostRequest, options: SendOptions) => Promise<HostAnswer>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Throws when this process must not write to the host any more. */
  readonly checkLease: () => void;
}

export type GitHostApi = (request: HostRequest, task: HostTask) => Promise<HostAnswer>;

export function createHostCall({ project, token, ca }: StatusTarget, ports: HostCallPorts): GitHostApi {
  const { send, clock, signal, checkLease } = ports;
  return async (request, task) => {
    checkLease();
    const options = { clock, signal, ...(ca === undefined ? {} : { ca }) };
    const answer = await send(request, options).catch((error: unknown) => {
      signal.throwIfAborted();
      throw new HostCallError(networkFailure(error, project, task));
    });
    const failure = sendFailure(answer, project, { token, now: clock.now(), task });
    if (failure) throw new HostCallError(failure);
    return answer;
  };
}

/** Returns undefined for a text that is not JSON: the page of a proxy, or an answer that is too long. */
export function parsedAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
