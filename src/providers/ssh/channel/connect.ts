/** Connects to a host whose key is decided by its policy, and finds out which keys a host has. */
import type { HostKey } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Clock } from '../../../os/clock.ts';
import { withDeadline } from '../../../os/deadline.ts';
import { isSshError, SshError } from '../errors.ts';
import { type HostKeyPolicy, hostKeyAlgorithms, hostKeyReason, SCANNED_ALGORITHMS } from '../host-keys.ts';
import { formatTarget, type SshTarget } from '../target.ts';
import { openClient } from './client.ts';
import { createConnection, type SshConnection } from './connection.ts';
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

export function connectSsh(host: SshHost, options: SshOptions): Promise<SshConnection> {
  const { target, hostKeys, credentials, via } = host;
  const where = formatTarget(target);
  return withDeadline(deadlineOf(options, where), async (signal) => {
    const route = await openRoute(via, credentials, signal);
    try {
      const stream = await route.open(target, signal);
      const opened = await openClient({
        target,
        credentials,
        algorithms: hostKeyAlgorithms(hostKeys),
        refusalReason: (key) => hostKeyReason(hostKeys, key),
        ...optional('stream', stream),
        signal,
      });
      return createConnection({ ...opened, target, route });
    } catch (error) {
      const reason = failureReason(error, route);
      route.close();
      throw reason;
    }
  });
}

/** A jump host that ends its connection also ends the one through it, which then tells only that it was closed. */
function failureReason(error: unknown, route: Route): unknown {
  return isSshError(error, 'Unreachable', 'HandshakeFailed') ? (route.endError() ?? error) : error;
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
    const reason = failureReason(error, route);
    if (!isSshError(reason, 'HostKeyMismatch', 'HandshakeFailed')) throw reason;
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
