/** A Lease that is held again and again, for as long as the process lives: what may be done is asked at each moment. */
import type { Clock } from '../../os/clock.ts';
import type { Client } from '../client/client.ts';
import type { Log } from '../process/log.ts';
import { createLeaseElection, type LeaseOptions } from './election.ts';

export interface HeldLeaseOptions {
  readonly client: Client;
  readonly name: string;
  readonly namespace: string;
  readonly identity: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly metrics?: NonNullable<LeaseOptions['metrics']>;
  /** The lease was won or lost. */
  readonly onChange: () => void;
}

export interface HeldLease {
  /** Why nothing may be written now, or nothing. Exact at the moment of the question. */
  notHeldReason(): string | undefined;
  /** Gives it back, so that others need not wait. */
  close(): Promise<void>;
}

type HeldTerm = Awaited<ReturnType<ReturnType<typeof createLeaseElection>['campaign']>>;

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
        : `lease ${name} is not ours yet`;
    },
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
        return; // The only reason is that we are closing.
      }
      onChange();
      await ended(AbortSignal.any([term.lost, closing.signal]));
      onChange();
    }
    await term?.release();
  }
}

function ended(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  signal.addEventListener('abort', () => resolve(), { once: true });
  return promise;
}
