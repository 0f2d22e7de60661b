/** A connection to a host: it starts commands, and knows what ended it. */
import { once } from 'node:events';
import type { Channel } from 'ssh2';
import type { HostKey } from '../../../api/generated/types.ts';
import { whenAborted } from '../../../os/deadline.ts';
import { SshError } from '../errors.ts';
import { formatTarget, type SshTarget } from '../target.ts';
import type { OpenClient } from './client.ts';
import type { Route } from './route.ts';

export interface SshConnection {
  readonly target: SshTarget;
  /** The key that the host has shown, for TrustOnFirstUse to record. */
  readonly hostKey: HostKey;
  /** Starts a command. The command line is a constant: what differs goes to its stdin. Rejects when the signal is aborted. */
  start(command: string, signal: AbortSignal): Promise<StartedCommand>;
  /** Returns what ended the connection, or its jump host. Undefined while it is open. */
  endError(): SshError | undefined;
  close(): void;
}

export interface StartedCommand {
  readonly channel: Channel;
  /** Undefined while the command runs, and for one that a signal or the end of the connection ended. */
  readonly exitCode: () => number | undefined;
  /** Resolves when little of what was sent is still in memory. Rejects when the signal is aborted. */
  readonly drained: (signal: AbortSignal) => Promise<void>;
}

export interface ConnectionParts extends OpenClient {
  readonly target: SshTarget;
  readonly route: Route;
}

export function createConnection({ client, hostKey, stream, target, route }: ConnectionParts): SshConnection {
  const where = formatTarget(target);
  let hasEnded = false;
  client.once('close', () => {
    hasEnded = true;
  });
  return {
    target,
    hostKey,
    start,
    endError,
    close: () => {
      client.destroy();
      route.close();
    },
  };

  /** The end of the jump host is the reason for that of the connection through it. */
  function endError(): SshError | undefined {
    if (!hasEnded) return undefined;
    return route.endError() ?? new SshError('Unreachable', 'the connection to the host ended', { where });
  }

  async function drained(signal: AbortSignal): Promise<void> {
    for (const each of [stream, route.stream]) {
      if (each?.writableNeedDrain) await once(each, 'drain', { signal });
    }
  }

  /** A host may accept the connection, and never answer to the command. */
  function start(command: string, signal: AbortSignal): Promise<StartedCommand> {
    return new Promise((resolve, reject) => {
      const stopListening = whenAborted(signal, reject);
      try {
        client.exec(command, (error, channel) => {
          stopListening();
          if (error !== undefined) fail(error);
          else if (signal.aborted) channel.destroy();
          else resolve({ channel, exitCode: followExit(channel), drained });
        });
      } catch (error) {
        // The library throws on a connection that has ended.
        stopListening();
        fail(error);
      }

      function fail(cause: unknown): void {
        const refused = new SshError('ScriptFailed', 'the host starts no command', { where, cause });
        reject(endError() ?? refused);
      }
    });
  }
}

/** Listens at once: the exit of a short command may be in the same packet as its start, before the caller has the channel. */
function followExit(channel: Channel): StartedCommand['exitCode'] {
  let exitCode: number | undefined;
  channel.once('exit', (code: number | null) => {
    exitCode = code ?? undefined;
  });
  return () => exitCode;
}
