/** The options of a leader election, checked and with their defaults. */
import type { Clock } from '../../os/clock.ts';
import type { Client } from '../client/client.ts';
import type { ObjectName } from '../objects/object.ts';
import type { Log } from '../process/log.ts';
import type { LeaseMetrics } from '../process/metrics-runtime.ts';

export interface LeaseOptions {
  readonly client: Pick<Client, 'get' | 'create' | 'replace' | 'patch'>;
  readonly name: ObjectName;
  /** Unique to this process: after a restart it must differ. */
  readonly identity: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly metrics?: LeaseMetrics;
  /** Other candidates may take over after this time without a renewal. */
  readonly leaseSeconds?: number;
  /** The holder stops acting after this time without a renewal. The difference to `leaseSeconds` is for requests in flight. */
  readonly renewDeadlineSeconds?: number;
  /** How often the holder renews, and other candidates check. */
  readonly retrySeconds?: number;
  /**
   * The highest epoch that is recorded anywhere. The next term gets a higher one, even when the Lease was deleted and
   * its own counter restarted. When this cannot be read, nothing is acquired.
   */
  readonly epochAbove?: () => Promise<number>;
}

/** With the defaults filled in. */
export interface LeaseSettings extends LeaseOptions {
  readonly leaseSeconds: number;
  readonly renewDeadlineSeconds: number;
  readonly retrySeconds: number;
  /** namespace/name, for messages. */
  readonly label: string;
  /** Of what acquires or releases the Lease. */
  readonly timeoutMs: number;
  /** Of a renewal. */
  readonly renewalTimeoutMs: number;
}

/** The defaults are those of client-go. */
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
