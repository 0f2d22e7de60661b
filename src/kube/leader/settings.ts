/** Checks the options of a leader election, and fills in their defaults. */
import type { Clock } from '../../os/clock.ts';
import type { Client } from '../client/client.ts';
import type { ObjectName } from '../objects/object.ts';
import type { Log } from '../process/log.ts';
import type { LeaseMetrics } from '../process/metrics-runtime.ts';

export interface LeaseOptions {
  readonly client: Pick<Client, 'get' | 'create' | 'replace' | 'patch'>;
  readonly name: ObjectName;
  /** The identity of this process, which is unique: after a restart it must differ. */
  readonly identity: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly metrics?: LeaseMetrics;
  /** The time without a renewal after which other candidates may take over. */
  readonly leaseSeconds?: number;
  /** The time without a renewal after which the holder stops acting. The difference to `leaseSeconds` is for requests in flight. */
  readonly renewDeadlineSeconds?: number;
  /** The time between two renewals of the holder, and between two checks of other candidates. */
  readonly retrySeconds?: number;
  /**
   * Returns the highest epoch that is recorded anywhere. The next term gets a higher one, even when the Lease was deleted and its own
   * counter restarted. When this cannot be read, nothing is acquired.
   */
  readonly epochAbove?: () => Promise<number>;
}

/** The options with the defaults filled in. */
export interface LeaseSettings extends LeaseOptions {
  readonly leaseSeconds: number;
  readonly renewDeadlineSeconds: number;
  readonly retrySeconds: number;
  /** The name as namespace/name, for messages. */
  readonly label: string;
  /** The time limit of a request that acquires or releases the Lease. */
  readonly timeoutMs: number;
  /** The time limit of a renewal. */
  readonly renewalTimeoutMs: number;
}

/** Checks the options and fills in the defaults, which are those of client-go. */
export function resolveLeaseSettings(options: LeaseOptions): LeaseSettings {
  const { leaseSeconds = 15, renewDeadlineSeconds = 10, retrySeconds = 2 } = options;
  const label = [options.name.namespace, options.name.name].filter(Boolean).join('/');
  if (!(leaseSeconds > renewDeadlineSeconds && renewDeadlineSeconds > 2 * retrySeconds && retrySeconds > 0)) {
    throw new RangeError(
      `lease ${label}: expected leaseSeconds > renewDeadlineSeconds > 2 * retrySeconds > 0, ` +
        `got ${leaseSeconds}, ${renewDeadlineSeconds} and ${retrySeconds}`,
    );
  }
  if (!Number.isInteger(leaseSeconds)) {
    throw new RangeError(`lease ${label}: expected an integer for leaseSeconds, got ${leaseSeconds}`);
  }
  // An answer that takes longer leaves the first renewal less time than it took itself. Client-go has the same limit.
  const timeoutMs = (renewDeadlineSeconds / 2) * 1000;
  // A later answer proves nothing.
  const renewalTimeoutMs = renewDeadlineSeconds * 1000;
  return { ...options, leaseSeconds, renewDeadlineSeconds, retrySeconds, label, timeoutMs, renewalTimeoutMs };
}
