/** The way to a host: direct, or through a jump host, which sees only the encrypted bytes. */
import type { Duplex } from 'node:stream';
import { whenAborted } from '../../../os/deadline.ts';
import { SshError } from '../errors.ts';
import { type HostKeyPolicy, hostKeyAlgorithms, hostKeyReason } from '../host-keys.ts';
import { formatTarget, type SshTarget } from '../target.ts';
import { openClient } from './client.ts';
import type { SshCredentials } from './credentials.ts';

export interface JumpHost {
  readonly target: SshTarget;
  readonly hostKeys: HostKeyPolicy;
}

export interface Route {
  /** Opens a stream to the host. Undefined: the host is reached directly. */
  open(target: SshTarget, signal: AbortSignal): Promise<Duplex | undefined>;
  /** The stream that the connection to the jump host writes to. Undefined for a direct one. */
  readonly stream?: Duplex;
  /** Returns what ended the route. Undefined while it is open, and for a direct one. */
  endError(): SshError | undefined;
  close(): void;
}

const DIRECT: Route = {
  open: () => Promise.resolve(undefined),
  endError: () => undefined,
  close: () => undefined,
};

export async function openRoute(
  via: JumpHost | undefined,
  credentials: SshCredentials,
  signal: AbortSignal,
): Promise<Route> {
  if (via === undefined) return DIRECT;
  const { client, stream: outer } = await openClient({
    target: via.target,
    credentials,
    algorithms: hostKeyAlgorithms(via.hostKeys),
    refusalReason: (key) => hostKeyReason(via.hostKeys, key),
    signal,
  });
  const jump = formatTarget(via.target);
  let hasEnded = false;
  client.once('close', () => {
    hasEnded = true;
  });
  return { open, stream: outer, endError, close: () => client.destroy() };

  function endError(): SshError | undefined {
    if (!hasEnded) return undefined;
    return new SshError('Unreachable', `the connection to the jump host ${jump} ended`, {
      where: jump,
      hint: 'check that the jump host is up, and that its sshd keeps connections open (ClientAliveInterval)',
    });
  }

  function open(target: SshTarget, ended: AbortSignal): Promise<Duplex> {
    const where = `${formatTarget(target)} through ${jump}`;
    return new Promise((resolve, reject) => {
      const stopListening = whenAborted(ended, reject);
      const fail = (cause: unknown): void => {
        const refused = new SshError('Unreachable', 'the jump host cannot reach it', { where, cause });
        reject(endError() ?? refused);
      };
      try {
        client.forwardOut('127.0.0.1', 0, target.address, target.port, (error, stream) => {
          stopListening();
          if (error === undefined) resolve(stream);
          else fail(error);
        });
      } catch (error) {
        // The library throws on a connection that has ended.
        stopListening();
        fail(error);
      }
    });
  }
}
