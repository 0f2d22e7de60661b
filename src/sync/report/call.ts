/** Calls the API of a git host. An answer that is an error rejects with HostCallError. */
import type { HeldLease } from '../../kube/leader/held-lease.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Clock } from '../../os/clock.ts';
import type { GitHostProject } from './git-host.ts';
import { HostCallError, type HostTask, networkFailure, sendFailure } from './outcome.ts';
import type { HostAnswer, HostRequest, SendOptions } from './send.ts';
import type { StatusTarget } from './target.ts';
import type { HostTokens } from './tokens/host-tokens.ts';
import { refusedTokenFailure } from './tokens/refused-token.ts';

export interface HostCallPorts {
  readonly send: (request: HostRequest, options: SendOptions) => Promise<HostAnswer>;
  readonly tokens: HostTokens;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Without it, this process must not write to the host any more. */
  readonly lease: Pick<HeldLease, 'notHeldReason'>;
}

/** The host, and the token for it. */
export interface HostAccess {
  readonly project: GitHostProject;
  readonly token: string;
}

export type GitHostApi = (build: (access: HostAccess) => HostRequest, task: HostTask) => Promise<HostAnswer>;

export function createHostCall(target: StatusTarget, ports: HostCallPorts): GitHostApi {
  const { project, ca } = target;
  const { send, tokens, clock, signal } = ports;
  return async (build, task) => {
    const token = await hostToken(target, ports);
    const options = { clock, signal, ...optional('ca', ca) };
    const answer = await send(build({ project, token }), options).catch((error: unknown) => {
      signal.throwIfAborted();
      throw new HostCallError(networkFailure(error, project, task));
    });
    const failure = sendFailure(answer, project, { token, now: clock.now(), task });
    if (failure) throw new HostCallError(refusedTokenFailure(failure, token, tokens));
    return answer;
  };
}

/** Returns the token for the next request of a process that holds the Lease. */
async function hostToken(
  target: StatusTarget,
  { tokens, signal, lease }: Pick<HostCallPorts, 'tokens' | 'signal' | 'lease'>,
): Promise<string> {
  checkLease(lease);
  const token = await tokens.get(target, signal);
  // The host may have taken seconds to issue it.
  checkLease(lease);
  return token;
}

/** Throws when another process may have the Lease: a plan takes minutes, and a Lease seconds. */
export function checkLease(lease: HostCallPorts['lease']): void {
  const reason = lease.notHeldReason();
  if (reason !== undefined) throw new Error(`the Lease of the Pipeline is not held: ${reason}`);
}

/** Returns undefined for a text that is not JSON: the page of a proxy, or an answer that is too long. */
export function parsedAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
