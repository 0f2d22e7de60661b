/** Limits the time of all questions to a cluster before it is read: a server that drops packets never refuses a connection. */
import type { Clock } from '../../../os/clock.ts';
import { withDeadline } from '../../../os/deadline.ts';
import { CliError, EXIT } from '../../errors.ts';

/** The other clusters are shown meanwhile, and only one that is new on the hub waits for this. */
export const CONNECT_LIMIT_MS = 5000;

interface Limited {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Rejects with the name of the cluster when the limit is over. */
export async function connectWithinLimit<T>(
  { clock, signal }: Limited,
  name: string,
  connectUntil: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const expired = (): CliError =>
    new CliError(`${name} did not answer within ${CONNECT_LIMIT_MS / 1000} s: it is tried again`, {
      exitCode: EXIT.unavailable,
    });
  return await withDeadline({ clock, ms: CONNECT_LIMIT_MS, signal, expired }, connectUntil);
}
