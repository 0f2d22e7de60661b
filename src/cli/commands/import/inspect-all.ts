/** Inspects many hosts, some at a time. A host that hangs or fails never holds up the others. */

import { optional } from '../../../kube/objects/optional.ts';
import { runConcurrently } from '../../../kube/process/run-concurrently.ts';
import { isSshError, type SshError } from '../../../providers/ssh/errors.ts';
import type { ServerAddress } from '../../../providers/ssh/preflight/check.ts';
import { type InspectedHost, inspectHost } from '../../../providers/ssh/preflight/inspect.ts';
import { formatTarget } from '../../../providers/ssh/target.ts';
import type { Io } from '../../io.ts';
import { withProgress } from '../../progress.ts';
import type { ListedHost } from './hosts/host.ts';
import type { ImportSecrets } from './secrets.ts';

/** Each host takes up to four connections, one after the other, and the memory of one. */
export const HOSTS_AT_A_TIME = 50;

export type HostOutcome =
  | { readonly host: ListedHost; readonly inspected: InspectedHost }
  | { readonly host: ListedHost; readonly error: SshError };

export interface InspectionRequest {
  readonly hosts: readonly ListedHost[];
  readonly secrets: ImportSecrets;
  readonly timeoutMs: number;
  readonly server?: ServerAddress;
}

/** Returns one outcome for each host, in their order. Rejects only when the command is interrupted. */
export function inspectAll(io: Io, request: InspectionRequest): Promise<readonly HostOutcome[]> {
  const { hosts } = request;
  const busy = new Set<string>();
  let done = 0;
  return withProgress(io, (progress) =>
    runConcurrently(
      hosts,
      async (host) => {
        const name = formatTarget(host.target);
        busy.add(name);
        progress.step(progressText(hosts.length, done, busy));
        const outcome = await inspectOne(io, host, request);
        busy.delete(name);
        done += 1;
        progress.step(progressText(hosts.length, done, busy));
        return outcome;
      },
      HOSTS_AT_A_TIME,
    ),
  );
}

const MAX_NAMES = 3;

export function progressText(total: number, done: number, busy: ReadonlySet<string>): string {
  const names = [...busy].slice(0, MAX_NAMES);
  const more = busy.size > names.length ? ` and ${busy.size - names.length} more` : '';
  const waits = names.length > 0 ? `; waits for ${names.join(', ')}${more}` : '';
  return `${done} of ${total} hosts checked${waits}`;
}

async function inspectOne(
  io: Io,
  host: ListedHost,
  { secrets, timeoutMs, server }: InspectionRequest,
): Promise<HostOutcome> {
  const { target, hostKeys, via } = host;
  const { credentials, sudoPassword } = secrets;
  try {
    const inspected = await inspectHost(
      {
        target,
        credentials,
        hostKeys: hostKeys ? { type: 'Pinned', keys: hostKeys } : { type: 'TrustOnFirstUse' },
        ...optional('via', via),
      },
      {
        clock: io.clock,
        signal: io.signal,
        connectMs: timeoutMs,
        scriptMs: timeoutMs,
        ...optional('server', server),
        ...optional('sudoPassword', sudoPassword),
      },
    );
    return { host, inspected };
  } catch (error) {
    if (!isSshError(error)) throw error;
    return { host, error };
  }
}
