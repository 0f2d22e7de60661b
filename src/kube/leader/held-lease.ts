/** Holds a Lease that is acquired again whenever it is lost, for as long as the process runs. */
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
  /** Handles each change: it is called when the lease was acquired or lost. */
  readonly onChange: () => void;
}

export interface HeldLease {
  /** Returns why writes are not allowed at this moment; undefined while the lease is held. */
  notHeldReason(): string | undefined;
  /** Throws unless the lease is held at this moment. */
  readonly fence: () => void;
  /** Returns the epoch of the current term; undefined while the lease is not held. */
  epoch(): number | undefined;
  /**
   * Gives the next term an epoch above this one, and ends the current term if its epoch is not higher. It is called when what the lease
   * protects was written with this epoch, and ours is not higher: the lease was deleted or restored from a backup, or another process holds
   * it now.
   */
  raiseEpoch(above: number): void;
  /** Returns the holder as last observed. */
  holder(): string | undefined;
  /** Releases the lease, so that other candidates do not wait for it to expire. */
  close(): Promise<void>;
}

export function createHeldLease(options: HeldLeaseOptions): HeldLease {
  const { name, namespace, onChange } = options;
  const election = createLeaseElection({
    ...options,
    name: { name, namespace },
    epochAbove: async () => epochAbove,
  });
  const closing = new AbortController();
  let term: HeldTerm | undefined;
  let epochAbove = 0;
  const running = run();

  return {
    notHeldReason,
    fence() {
      const because = notHeldReason();
      if (because !== undefined) throw new Error(because);
    },
    epoch: () => (term?.held() ? term.epoch : undefined),
    raiseEpoch(above) {
      epochAbove = Math.max(epochAbove, above);
      if (term && term.epoch <= above) term.end('superseded');
    },
    holder: () => election.holder(),
    async close() {
      closing.abort();
      await running;
    },
  };

  function notHeldReason(): string | undefined {
    if (term?.held()) return undefined;
    const holder = election.holder();
    return holder && holder !== options.identity
      ? `lease ${name} is held by ${holder}`
      : `lease ${name} is not acquired yet`;
  }

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
