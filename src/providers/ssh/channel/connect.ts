/** Connects to a host whose key is decided by its policy, and finds out which keys a host has. */
import type { Channel } from 'ssh2';
import type { HostKey } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Clock } from '../../../os/clock.ts';
import { withDeadline } from '../../../os/deadline.ts';
import { isSshError, SshError } from '../errors.ts';
import { type HostKeyPolicy, hostKeyAlgorithms, hostKeyReason, SCANNED_ALGORITHMS } from '../host-keys.ts';
import { formatTarget, type SshTarget } from '../target.ts';
import { openClient } from './client.ts';
import type { SshCredentials } from './credentials.ts';
import { type JumpHost, openRoute, type Route } from './route.ts';

export interface SshHost {
  readonly target: SshTarget;
  readonly hostKeys: HostKeyPolicy;
  readonly credentials: SshCredentials;
  readonly via?: JumpHost;
}

export interface SshOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The time for the connection, with authentication and the jump host. */
  readonly connectMs: number;
}

export interface SshConnection {
  readonly target: SshTarget;
  /** The key that the host has shown, for TrustOnFirstUse to record. */
  readonly hostKey: HostKey;
  /** Starts a command. The command line is a constant: what differs goes to its stdin. */
  start(command: string): Promise<StartedCommand>;
  close(): void;
}

export interface StartedCommand {
  readonly channel: Channel;
  /** Undefined while the command runs, and for one that a signal or the end of the connection ended. */
  readonly exitCode: () => number | undefined;
}

export function connectSsh(host: SshHost, options: SshOptions): Promise<SshConnection> {
  const { target, hostKeys, credentials, via } = host;
  const where = formatTarget(target);
  return withDeadline(deadlineOf(options, where), async (signal) => {
    const route = await openRoute(via, credentials, signal);
    try {
      const stream = await route.open(target, signal);
      const { client, hostKey } = await openClient({
        target,
        credentials,
        algorithms: hostKeyAlgorithms(hostKeys),
        refusalReason: (key) => hostKeyReason(hostKeys, key),
        ...optional('stream', stream),
        signal,
      });
      return {
        target,
        hostKey,
        start: (command) =>
          new Promise((resolve, reject) => {
            client.exec(command, (error, channel) =>
              error === undefined
                ? resolve(followExit(channel))
                : reject(new SshError('ScriptFailed', 'the host starts no command', { where, cause: error })),
            );
          }),
        close: () => {
          client.destroy();
          route.close();
        },
      };
    } catch (error) {
      route.close();
      throw error;
    }
  });
}

/** Listens at once: the exit of a short command may be in the same packet as its start, before the caller has the channel. */
function followExit(channel: Channel): StartedCommand {
  let exitCode: number | undefined;
  channel.once('exit', (code: number | null) => {
    exitCode = code ?? undefined;
  });
  return { channel, exitCode: () => exitCode };
}

/** Returns the keys of a host, one of each type. Nothing is authenticated: each connection ends when the host has shown its key. */
export function scanHostKeys(
  { target, credentials, via }: Omit<SshHost, 'hostKeys'>,
  options: SshOptions,
): Promise<readonly HostKey[]> {
  const where = formatTarget(target);
  return withDeadline(deadlineOf(options, where), async (signal) => {
    const route = await openRoute(via, credentials, signal);
    try {
      const found: HostKey[] = [];
      for (const algorithms of SCANNED_ALGORITHMS) {
        const key = await scanOne({ target, route, algorithms, signal });
        if (key) found.push(key);
      }
      if (found.length > 0) return found;
      throw new SshError('HandshakeFailed', 'the host has no key of a type that is accepted', { where });
    } finally {
      route.close();
    }
  });
}

interface Scan {
  readonly target: SshTarget;
  readonly route: Route;
  readonly algorithms: readonly string[];
  readonly signal: AbortSignal;
}

/** Undefined: the server has no key of these types. */
async function scanOne({ target, route, algorithms, signal }: Scan): Promise<HostKey | undefined> {
  let shown: HostKey | undefined;
  const stream = await route.open(target, signal);
  try {
    await openClient({
      target,
      credentials: {},
      algorithms,
      refusalReason: (key) => {
        shown = key;
        return 'the connection was for its key only';
      },
      ...optional('stream', stream),
      signal,
    });
  } catch (error) {
    if (!isSshError(error, 'HostKeyMismatch', 'HandshakeFailed')) throw error;
  }
  return shown;
}

function deadlineOf({ clock, signal, connectMs }: SshOptions, where: string) {
  return {
    clock,
    signal,
    ms: connectMs,
    expired: () =>
      new SshError('Timeout', `no SSH connection within ${Math.round(connectMs / 1000)} s`, { where }),
  };
}
