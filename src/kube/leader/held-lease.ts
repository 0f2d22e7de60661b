/** A Lease that is acquired again whenever it is lost, for as long as the process runs. */
import type { Clock } from '../../os/clock.ts';
import type { Client } from '../client/client.ts';
import type { Log } from '../process/log.ts';
import type { LeaseMetrics } from '../process/metrics-runtime.ts';
import { createLeaseElection } from './election.ts';
import type { HeldTerm } from './renewal.ts';

export interface HeldLeaseOptions {
  readonly client: Client;
  readonly name: string;
  readonly namespace: string;
  readonly identity: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly metrics?: LeaseMetrics;
  /** Called when the lease was acquired or lost. */
  readonly onChange: () => void;
}

export interface HeldLease {
  /** Why writes are not allowed at this moment; undefined while the lease is held. */
  notHeldReason(): string | undefined;
  /** The holder as last observed. */
  holder(): string | undefined;
  /** Releases the lease, so that other candidates do not wait for it to expire. */
  close(): Promise<void>;
}

export function createHeldLease(options: HeldLeaseOptions): HeldLease {
  const { name, namespace, onChange } = options;
  const election = createLeaseElection({ ...options, name: { name, namespace } });
  const closing = new AbortController();
  let term: HeldTerm | undefined;
  const running = run();

  return {
    notHeldReason() {
      if (term?.held()) return undefined;
      const holder = election.holder();
      return holder && holder !== options.identity
        ? `lease ${name} is held by ${holder}`
        : `lease ${name} is not acquired yet`;
    },
    holder: () => election.holder(),
    async close() {
      closing.abort();
      await running;
    },
  };

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        term = await election.campaign(closing.signal);
      } catch {
        return; // It rejects only when we are closing.
      }
      onChange();
      await aborted(AbortSignal.any([term.lost, closing.signal]));
      onChange();
    }
    await term?.release();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  signal.addEventListener('abort', () => resolve(), { once: true });
  return promise;
}
